/**
 * Names that people need every day. A remote source must not newly block one of them. Maintained by hand; `guards.may_block` permits.
 * Only the names themselves are protected: hosts below them that track people stay blockable.
 */

/** Search, mail, banks, payment, government, health, operating systems, and servers that other sites depend on. */
const ESSENTIAL = `
google.com google.de google.co.uk google.fr google.es google.it google.nl google.pl google.at google.ch google.ca google.com.br google.com.au
bing.com duckduckgo.com ecosia.org startpage.com qwant.com yahoo.com yahoo.co.jp yandex.ru baidu.com wikipedia.org wikimedia.org
gmail.com outlook.com live.com hotmail.com office.com office365.com proton.me protonmail.com gmx.de gmx.net web.de t-online.de freenet.de posteo.de mailbox.org icloud.com
mail.ru orange.fr laposte.net libero.it fastmail.com
paypal.com stripe.com visa.com mastercard.com americanexpress.com klarna.com wise.com revolut.com n26.com giropay.de
sparkasse.de vr.de deutsche-bank.de commerzbank.de ing.de dkb.de comdirect.de postbank.de hypovereinsbank.de targobank.de consorsbank.de
erstebank.at sparkasse.at raiffeisen.at raiffeisen.ch ubs.com postfinance.ch bnpparibas.com mabanque.bnpparibas credit-agricole.fr labanquepostale.fr
santander.com santander.co.uk bbva.es caixabank.es intesasanpaolo.com unicredit.it rabobank.nl abnamro.nl kbc.be pkobp.pl mbank.pl
barclays.co.uk hsbc.com hsbc.co.uk lloydsbank.com natwest.com nationwide.co.uk monzo.com
chase.com bankofamerica.com wellsfargo.com citi.com capitalone.com usbank.com fidelity.com schwab.com vanguard.com rbc.com
elster.de bund.de arbeitsagentur.de bundesregierung.de bahn.de dhl.de deutschepost.de oesterreich.gv.at admin.ch europa.eu gov.uk nhs.uk service-public.fr impots.gouv.fr ameli.fr
usa.gov irs.gov ssa.gov cdc.gov nih.gov canada.ca gob.es inps.it digid.nl gov.pl who.int
microsoft.com microsoftonline.com windows.com apple.com android.com mozilla.org firefox.com ubuntu.com debian.org
cloudflare.com amazonaws.com googleapis.com gstatic.com googleusercontent.com cloudfront.net akamai.com fastly.com letsencrypt.org
openstreetmap.org github.com githubusercontent.com gitlab.com stackoverflow.com jsdelivr.net unpkg.com
zoom.us dropbox.com openai.com adobe.com
`;

const ESSENTIAL_HOSTS = `
accounts.google.com mail.google.com maps.google.com drive.google.com docs.google.com calendar.google.com meet.google.com play.google.com photos.google.com classroom.google.com
fonts.googleapis.com ajax.googleapis.com fonts.gstatic.com maps.googleapis.com
mail.yahoo.com login.yahoo.com outlook.office.com outlook.live.com login.live.com login.microsoftonline.com account.microsoft.com teams.microsoft.com
appleid.apple.com support.apple.com en.wikipedia.org de.wikipedia.org fr.wikipedia.org es.wikipedia.org upload.wikimedia.org
mail.proton.me account.proton.me navigator.web.de banking.ing.de meine.deutsche-bank.de cdnjs.cloudflare.com challenges.cloudflare.com
`;

/** Kinds for which lists exist on purpose: social media, messengers, shops, streaming, games. */
const OPTIONAL = `
youtube.com youtu.be googlevideo.com ytimg.com facebook.com fbcdn.net instagram.com cdninstagram.com threads.net twitter.com x.com linkedin.com reddit.com pinterest.com tumblr.com tiktok.com snapchat.com vk.com xing.com
whatsapp.com whatsapp.net messenger.com telegram.org t.me signal.org threema.ch discord.com skype.com viber.com line.me wechat.com slack.com
amazon.com amazon.de amazon.co.uk amazon.fr amazon.it amazon.es amazon.co.jp amazon.ca amazon.in ebay.com ebay.de ebay.co.uk kleinanzeigen.de otto.de zalando.de ikea.com
aliexpress.com walmart.com target.com etsy.com bestbuy.com mediamarkt.de booking.com airbnb.com
netflix.com nflxvideo.net spotify.com disneyplus.com primevideo.com hulu.com twitch.tv vimeo.com soundcloud.com dazn.com
ardmediathek.de zdf.de bbc.co.uk bbc.com
steampowered.com steamcommunity.com epicgames.com playstation.com xbox.com nintendo.com roblox.com minecraft.net ea.com
`;

const OPTIONAL_HOSTS = `
m.youtube.com music.youtube.com m.facebook.com web.whatsapp.com web.telegram.org store.steampowered.com open.spotify.com
`;

function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

function namesOf(sites: string, hosts: string): readonly string[] {
  return [...words(sites).flatMap((name) => [name, `www.${name}`]), ...words(hosts)];
}

export const ESSENTIAL_NAMES: readonly string[] = namesOf(ESSENTIAL, ESSENTIAL_HOSTS);
export const OPTIONAL_NAMES: readonly string[] = namesOf(OPTIONAL, OPTIONAL_HOSTS);

/** The names that people need and that a list does not block on purpose. */
export interface HouseholdNames {
  /** No remote source may newly block them. */
  readonly essential: readonly string[];
  /** Only sources that are new to the list may newly block them. */
  readonly optional: readonly string[];
}

/** Leaves out names for which `isLeftOut` is true. */
export function householdNames(isLeftOut: (name: string) => boolean): HouseholdNames {
  return {
    essential: ESSENTIAL_NAMES.filter((name) => !isLeftOut(name)),
    optional: OPTIONAL_NAMES.filter((name) => !isLeftOut(name)),
  };
}
