import { encodeUtf8 } from "../bytes/utf8.ts";
import { withParents } from "../syntax/parents.ts";
import { Suffix, publicSuffixKind } from "../syntax/public-suffix.ts";

/** Platforms whose paths belong to their users; names below them are theirs, too. */
const PLATFORMS: ReadonlySet<string> = new Set(
  `1drv.ms adobe.com amazon.com apple.com archive.org atlassian.net bing.com bit.ly bitbucket.org box.com canva.com
  cutt.ly discord.com discordapp.com discordapp.net docusign.net dropbox.com dropboxusercontent.com evernote.com facebook.com
  figma.com flickr.com forms.gle git.io github.com githubusercontent.com gitlab.com gofile.io goo.gl google.com
  googleapis.com googleusercontent.com icloud.com imgur.com instagram.com ipfs.io is.gd jsdelivr.net linkedin.com linktr.ee
  live.com mediafire.com medium.com mega.co.nz mega.nz microsoft.com miro.com notion.so npmjs.com office.com ow.ly pastebin.com
  paypal.com pinterest.com pixeldrain.com rb.gy rebrand.ly reddit.com roblox.com salesforce.com scribd.com sharepoint.com
  shorturl.at slack.com soundcloud.com sourceforge.net spotify.com steamcommunity.com t.co t.ly t.me telegra.ph telegram.org
  tiktok.com tinyurl.com transfer.sh trello.com tumblr.com twitter.com typeform.com unpkg.com v.gd vimeo.com vk.com
  wetransfer.com whatsapp.com wikipedia.org x.com yahoo.com yandex.ru youtu.be youtube.com zendesk.com zoho.com zoom.us`.split(
    /\s+/,
  ),
);

/** Whether many people share a host, so that a path says nothing about the rest of it. The name is in lower case. */
export function isSharedHost(name: string): boolean {
  if (withParents(name).some((parent) => PLATFORMS.has(parent))) return true;
  const bytes = encodeUtf8(name);
  return publicSuffixKind(bytes, 0, bytes.length) !== Suffix.No;
}
