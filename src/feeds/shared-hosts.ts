import { encodeUtf8 } from "../bytes/utf8.ts";
import { withParents } from "../syntax/parents.ts";
import { Suffix, publicSuffixKind } from "../syntax/public-suffix.ts";

/** Platforms whose paths belong to their users; names below them are theirs, too. */
const PLATFORMS: ReadonlySet<string> = new Set(
  `1drv.ms a.co about.me academia.edu adobe.com airtable.com aka.ms alibaba.com aliexpress.com amazon.com amzn.to aol.com
  apple.com archive.org atlassian.net baidu.com behance.net bilibili.com bing.com bit.ly bitbucket.org bitly.com blogger.com
  booking.com box.com bsky.app buff.ly calendly.com canva.com cash.app change.org clickup.com coda.io codepen.io
  constantcontact.com craigslist.org cutt.ly dailymotion.com deviantart.com discord.com discordapp.com discordapp.net
  disk.yandex.com docusign.net douyin.com dropbox.com dropboxusercontent.com duckduckgo.com ebay.com etsy.com eventbrite.com
  evernote.com facebook.com fb.com fb.me fb.watch figma.com fiverr.com flickr.com flipkart.com forms.gle g.co g.page git.io
  github.com githubusercontent.com gitlab.com gmail.com gofile.io gofundme.com goo.gl goo.su google.com googleapis.com
  googleblog.com googleusercontent.com gravatar.com hackmd.io hotmail.com hubspot.com ibb.co icloud-content.com icloud.com
  imdb.com imgur.com indeed.com instagram.com ipfs.io is.gd issuu.com jotform.com jsdelivr.net justpaste.it kakao.com ko-fi.com
  line.me linkedin.com linkin.bio linktr.ee live.com lnk.to lnkd.in loom.com m.me mailchi.mp mailchimp.com mastodon.social
  mediafire.com medium.com meetup.com mega.co.nz mega.nz messenger.com microsoft.com miro.com msn.com naver.com nextdoor.com
  notion.so npmjs.com office.com ok.ru outlook.com overleaf.com ow.ly padlet.com paste.ee pastebin.com patreon.com paypal.com
  paypal.me pin.it pinterest.com pixeldrain.com playstation.com postimg.cc prezi.com proton.me pypi.org qq.com quora.com rb.gy
  rebrand.ly redd.it reddit.com rentry.co replit.com researchgate.net roblox.com rutube.ru s.id salesforce.com scribd.com
  sendgrid.net sendspace.com sharepoint.com shopify.com shorturl.at signal.group skype.com slack.com slideshare.net smugmug.com
  snapchat.com soundcloud.com sourceforge.net spoti.fi spotify.com stackoverflow.com steamcommunity.com steampowered.com
  strava.com streamable.com surl.li surveymonkey.com t.co t.ly t.me taobao.com telegra.ph telegram.me telegram.org threads.net
  tiktok.com tiny.cc tinyurl.com tinyurl.is transfer.sh trello.com tripadvisor.com tumblr.com tutanota.com twitch.tv twitter.com
  typeform.com udemy.com unpkg.com upwork.com v.gd vimeo.com vk.com wa.me wechat.com weibo.com wetransfer.com whatsapp.com
  whereby.com wikimedia.org wikipedia.org wix.com wordpress.org workplace.com x.com xing.com yahoo.com yandex.ru yelp.com
  youku.com youtu.be youtube.com zendesk.com zhihu.com zoho.com zoom.us`.split(/\s+/),
);

/** Platforms that give each user a name below their own: only the platform itself is shared. */
const GIVE_NAMES: ReadonlySet<string> = new Set(
  `000webhost.com itch.io jimdo.com squarespace.com strikingly.com substack.com webflow.com weebly.com wixsite.com
  wordpress.com`.split(/\s+/),
);

/** Companies with one platform in many countries: `google.de`, `amazon.co.uk`. */
const WORLDWIDE =
  /(?:^|\.)(?:amazon|google|ebay|yahoo|yandex|booking|tripadvisor|indeed|etsy)\.(?:com?\.)?[a-z]{2,3}$/;

/** Whether many people share a host, so that a path says nothing about the rest of it. The name is in lower case. */
export function isSharedHost(name: string): boolean {
  if (WORLDWIDE.test(name) || GIVE_NAMES.has(name.replace(/^www\./, ""))) return true;
  if (withParents(name).some((parent) => PLATFORMS.has(parent))) return true;
  const bytes = encodeUtf8(name);
  return publicSuffixKind(bytes, 0, bytes.length) !== Suffix.No;
}
