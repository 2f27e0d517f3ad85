import { namesIn } from "../meaning/line.ts";
import { withParents } from "../syntax/public-suffix.ts";

/**
 * Names whose loss breaks devices, not only pages. Maintained by hand; `guards.protect` adds names, `guards.may_block` removes
 * some.
 */

/** Without these a device reports no network, the wrong time or no valid certificate. */
const LIFELINES: readonly string[] = `
captive.apple.com
connectivitycheck.gstatic.com
connectivitycheck.android.com
clients3.google.com
www.gstatic.com
detectportal.firefox.com
www.msftconnecttest.com
www.msftncsi.com
dns.msftncsi.com
ipv6.msftconnecttest.com
nmcheck.gnome.org
connectivity-check.ubuntu.com
network-test.debian.org
ping.archlinux.org
time.apple.com
time.windows.com
time.google.com
time.android.com
time.cloudflare.com
time.nist.gov
pool.ntp.org
0.pool.ntp.org
ntp.ubuntu.com
ocsp.apple.com
ocsp2.apple.com
valid.apple.com
crl.apple.com
certs.apple.com
ocsp.digicert.com
crl3.digicert.com
crl4.digicert.com
cacerts.digicert.com
ocsp.sectigo.com
crl.sectigo.com
ocsp.globalsign.com
crl.globalsign.com
ocsp.godaddy.com
ocsp.entrust.net
crl.entrust.net
ocsp.pki.goog
c.pki.goog
i.pki.goog
r3.o.lencr.org
r10.o.lencr.org
e5.o.lencr.org
x1.c.lencr.org
crl.microsoft.com
ocsp.msocsp.com
oneocsp.microsoft.com
ctldl.windowsupdate.com
acme-v02.api.letsencrypt.org
`
  .trim()
  .split("\n");

/** System updates, sign-in, and the servers of software and lists. */
const NEEDED: readonly string[] = `
www.microsoft.com
update.microsoft.com
download.windowsupdate.com
windowsupdate.microsoft.com
dl.delivery.mp.microsoft.com
login.microsoftonline.com
gdmf.apple.com
mesu.apple.com
swcdn.apple.com
swscan.apple.com
updates.cdn-apple.com
appldnld.apple.com
courier.push.apple.com
mtalk.google.com
android.clients.google.com
play.googleapis.com
dl.google.com
accounts.google.com
fcm.googleapis.com
deb.debian.org
security.debian.org
archive.ubuntu.com
security.ubuntu.com
mirrors.fedoraproject.org
dl-cdn.alpinelinux.org
geo.mirror.pkgbuild.com
downloads.openwrt.org
archive.raspberrypi.com
aus5.mozilla.org
addons.mozilla.org
download.mozilla.org
registry.npmjs.org
pypi.org
files.pythonhosted.org
static.crates.io
index.crates.io
proxy.golang.org
rubygems.org
repo.maven.apache.org
registry-1.docker.io
auth.docker.io
ghcr.io
quay.io
github.com
api.github.com
codeload.github.com
raw.githubusercontent.com
objects.githubusercontent.com
gitlab.com
cdn.jsdelivr.net
adguardteam.github.io
`
  .trim()
  .split("\n");

export const PROTECTED_NAMES: readonly string[] = [...LIFELINES, ...NEEDED];

/** The names that one list protects. */
export interface ProtectedSet {
  readonly names: readonly string[];
  /** Names that people need, besides these, with their kinds. */
  readonly household: ReadonlyMap<string, string>;
  readonly lifelines: ReadonlySet<string>;
  /** Entries of `may_block` that are neither protected names nor kinds of them. */
  readonly unknown: readonly string[];
}

/** The names that entries of `guards.may_block` match. */
export function waivedNames(mayBlock: readonly string[]): string[] {
  return mayBlock.map((entry) => namesIn(entry)[0] ?? entry);
}

/** Tells whether entries of `guards.may_block` are for a name or one of its parents. */
export function waiverOf(mayBlock: readonly string[] = []): (name: string) => boolean {
  const waived = new Set(waivedNames(mayBlock));
  return (name) => withParents(name).some((parent) => waived.has(parent));
}

/**
 * `own` has the names of `guards.protect` and the servers of the sources. Without `isLimited`, all sources are fully trusted, and may
 * block what people need: those names are not even read.
 */
export function protectedSet(
  own: readonly string[],
  mayBlock: readonly string[],
  isLimited: boolean,
  isPopular: (name: string) => boolean = () => false,
): ProtectedSet {
  const all = new Set([...own, ...PROTECTED_NAMES]);
  const household = new Map(isLimited || mayBlock.length > 0 ? householdKinds() : []);
  const unknown: string[] = [];
  const waived = waivedNames(mayBlock);
  for (const [index, entry] of mayBlock.entries()) {
    const name = waived[index]!;
    if (!isKind(entry) && !all.has(name) && !household.has(name) && !isPopular(name))
      unknown.push(entry);
  }
  for (const name of all) household.delete(name);
  const isWaived = waiverOf(mayBlock);
  if (mayBlock.length > 0)
    for (const [name, kind] of household)
      if (mayBlock.includes(kind) || isWaived(name)) household.delete(name);
  for (const name of waived) all.delete(name);
  if (!isLimited) household.clear();
  return { names: [...all], household, lifelines: new Set([...own, ...LIFELINES]), unknown };
}

/** A remote source never blocks names of these kinds. The strictest is first. */
export const STRICT_KINDS: readonly string[] =
  "infrastructure os payment bank health government mail search".split(" ");
/** Some lists block names of these kinds on purpose. */
export const ACCEPTED_KINDS: readonly string[] =
  "messenger vendor shop streaming games social".split(" ");

const KINDS: readonly string[] = [...STRICT_KINDS, ...ACCEPTED_KINDS];

function isKind(text: string): boolean {
  return KINDS.includes(text);
}

/** Whether lists exist that block names of this kind on purpose. */
export function isAcceptedKind(kind: string): boolean {
  return ACCEPTED_KINDS.includes(kind);
}

let tableKinds: ReadonlyMap<string, string> | undefined;

/** The names that people need, with their kinds. */
export function householdKinds(): ReadonlyMap<string, string> {
  tableKinds ??= readTable(HOUSEHOLD_TABLE);
  return tableKinds;
}

/** How many of the names are of each kind. */
export function countKinds(names: Iterable<string>): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) {
    const kind = householdKinds().get(name);
    if (kind !== undefined) counts[kind] = (counts[kind] ?? 0) + 1;
  }
  return counts;
}

/** If a name is there twice, the stricter kind wins. Infrastructure has no `www`. */
export function readTable(table: string): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  let kind = "";
  for (const token of table.trim().split(/\s+/)) {
    if (token.endsWith(":")) kind = token.slice(0, -1);
    if (!token.includes(".")) continue;
    const [name = "", ...hosts] = token.split("+");
    const all = hosts.map((host) => `${host}.${name}`);
    if (kind !== "infrastructure") all.push(`www.${name}`);
    for (const one of [name, ...all]) {
      const known = names.get(one);
      if (known === undefined || KINDS.indexOf(kind) < KINDS.indexOf(known)) names.set(one, kind);
    }
  }
  return names;
}

/**
 * Names that people need every day, written from general knowledge: kinds, countries (`*` for all) and names. `example.com` means the
 * name and its `www`, `example.com+mail+login` for these and two hosts below it. Hosts that show advertisements, track people or collect
 * telemetry do not belong here, nor names that lists block for that reason. A name that is written twice has the stricter kind.
 */
export const HOUSEHOLD_TABLE = `
search: *
google.com+accounts+mail+maps+drive+docs+sheets+slides+calendar+meet+photos+classroom+chat+contacts+translate+news+scholar+myaccount+passwords+one+keep+books+support+sites+lens
bing.com duckduckgo.com ecosia.org startpage.com qwant.com yahoo.com+mail+login+search+finance search.brave.com brave.com mojeek.com kagi.com swisscows.com
metager.de perplexity.ai openai.com+chat+platform chatgpt.com claude.ai deepl.com wolframalpha.com wikipedia.org+en+de+fr+es+it+nl+pl+pt+ja+zh+ru+sv+uk+m
wikimedia.org+upload+commons wikidata.org wiktionary.org+en+de archive.org openstreetmap.org+tile stackoverflow.com stackexchange.com DE google.de AT google.at
CH google.ch search.ch local.ch UK google.co.uk IE google.ie CA google.ca AU google.com.au NZ google.co.nz FR google.fr BE google.be NL google.nl LU google.lu
ES google.es PT google.pt IT google.it PL google.pl CZ google.cz seznam.cz+email+login SK google.sk zoznam.sk HU google.hu RO google.ro BG google.bg GR
google.gr SE google.se NO google.no DK google.dk FI google.fi EE google.ee neti.ee LV google.lv LT google.lt HR google.hr SI google.si RS google.rs IS google.is
UA google.com.ua ukr.net TR google.com.tr IL google.co.il walla.co.il IN google.co.in JP google.co.jp yahoo.co.jp+login+mail+search KR google.co.kr
naver.com+mail+search+nid+map BR google.com.br uol.com.br MX google.com.mx AR google.com.ar CL google.cl CO google.com.co PE google.com.pe ZA google.co.za SG
google.com.sg MY google.com.my ID google.co.id TH google.co.th VN google.com.vn PH google.com.ph TW google.com.tw HK google.com.hk AE google.ae SA google.com.sa
EG google.com.eg NG google.com.ng KE google.co.ke RU google.ru
mail: * gmail.com outlook.com+login hotmail.com live.com+login+outlook+account+signup office.com+outlook+portal office365.com+outlook microsoft365.com
proton.me+mail+account+calendar+drive+vpn protonmail.com+mail icloud.com aol.com+mail+login fastmail.com+app tutanota.com tuta.com+app gmx.com hey.com+app
mailbox.org+login startmail.com runbox.com DE gmx.de gmx.net+navigator web.de+navigator t-online.de+email+accounts freenet.de posteo.de+lite telekom.de
vodafone.de 1und1.de ionos.de+webmail+login strato.de o2online.de mail.de AT gmx.at aon.at CH gmx.ch bluewin.ch swisscom.ch sunrise.ch hostpoint.ch
infomaniak.com+mail+login UK bt.com btinternet.com sky.com virginmedia.com ionos.co.uk IE eir.ie US comcast.net xfinity.com+login+connect att.com att.net
verizon.com spectrum.net spectrum.com cox.com t-mobile.com CA bell.ca rogers.com telus.com shaw.ca videotron.com AU telstra.com.au telstra.com bigpond.com
optus.com.au NZ spark.co.nz FR orange.fr+mail+messagerie laposte.net free.fr+zimbra+webmail sfr.fr+webmail bouyguestelecom.fr BE telenet.be+mail+login
proximus.be skynet.be NL ziggo.nl kpn.com xs4all.nl LU post.lu pt.lu ES movistar.es telefonica.es orange.es vodafone.es correo.movistar.es PT sapo.pt+mail+login
meo.pt nos.pt IT libero.it+mail+login virgilio.it tiscali.it alice.it tim.it aruba.it+webmail fastweb.it pec.it PL onet.pl+poczta wp.pl+poczta+profil
interia.pl+poczta o2.pl+poczta CZ centrum.cz volny.cz SK azet.sk centrum.sk HU citromail.hu telekom.hu RO digi.ro BG abv.bg+passport GR cosmote.gr otenet.gr SE
telia.se NO telenor.no online.no DK tdc.dk yousee.dk FI elisa.fi EE mail.ee LT inbox.lt UA i.ua TR turktelekom.com.tr turkcell.com.tr IL bezeq.co.il IN
rediff.com+mail jio.com airtel.in CN qq.com+mail 139.com+mail sina.com.cn+mail JP nifty.com ocn.ne.jp docomo.ne.jp au.com softbank.jp BR terra.com.br bol.com.br
ig.com.br globo.com+login MX telmex.com telcel.com AR fibertel.com.ar personal.com.ar CL entel.cl vtr.com ZA mweb.co.za telkom.co.za vodacom.co.za mtn.co.za SG
singtel.com
bank: * wise.com revolut.com+app+sso n26.com+app hsbc.com santander.com bnpparibas.com ing.com unicreditgroup.eu interactivebrokers.com traderepublic.com+app DE
sparkasse.de vr.de deutsche-bank.de+meine commerzbank.de+kunden ing.de+banking dkb.de+banking comdirect.de+kunde postbank.de+meine hypovereinsbank.de
targobank.de consorsbank.de norisbank.de gls.de apobank.de santander.de bbbank.de psd-bank.de 1822direkt.de berliner-sparkasse.de haspa.de sskm.de ksk-koeln.de
flatex.de scalable.capital tomorrow.one bundesbank.de bafin.de schufa.de meineschufa.de AT erstebank.at sparkasse.at george.at+login raiffeisen.at+mein bawag.at
easybank.at bankaustria.at oberbank.at volksbank.at dadat.at hypo.at oenb.at CH ubs.com+ebanking postfinance.ch raiffeisen.ch+ebanking credit-suisse.com
zkb.ch+onba migrosbank.ch cler.ch bekb.ch valiant.ch lukb.ch swissquote.com+trade neon-free.ch snb.ch UK barclays.co.uk barclays.com hsbc.co.uk lloydsbank.com
lloydsbank.co.uk natwest.com+onlinebanking rbs.co.uk halifax.co.uk halifax-online.co.uk santander.co.uk+retail nationwide.co.uk+onlinebanking tsb.co.uk
monzo.com starlingbank.com co-operativebank.co.uk firstdirect.com metrobankonline.co.uk virginmoney.com bankofscotland.co.uk bankofengland.co.uk IE aib.ie
bankofireland.com permanenttsb.ie ptsb.ie US chase.com+secure bankofamerica.com+secure wellsfargo.com+connect+secure citi.com+online citibank.com
capitalone.com+verified usbank.com+onlinebanking pnc.com truist.com tdbank.com fidelity.com+digital schwab.com+client vanguard.com+investor+personal
ally.com+secure discover.com navyfederal.org usaa.com citizensbank.com regions.com 53.com key.com mtb.com huntington.com synchrony.com etrade.com robinhood.com
merrilledge.com morganstanley.com goldmansachs.com marcus.com sofi.com chime.com annualcreditreport.com turbotax.intuit.com intuit.com+accounts CA rbc.com
rbcroyalbank.com+www1 td.com+easyweb scotiabank.com bmo.com cibc.com nbc.ca desjardins.com tangerine.ca wealthsimple.com interac.ca questrade.com AU
commbank.com.au+my westpac.com.au+banking anz.com.au anz.com nab.com.au+ib macquarie.com.au bankwest.com.au stgeorge.com.au suncorp.com.au bendigobank.com.au
ubank.com.au NZ anz.co.nz asb.co.nz bnz.co.nz westpac.co.nz kiwibank.co.nz FR mabanque.bnpparibas credit-agricole.fr labanquepostale.fr societegenerale.fr
particuliers.sg.fr sg.fr caisse-epargne.fr banquepopulaire.fr creditmutuel.fr lcl.fr cic.fr boursobank.com+clients boursorama.com hellobank.fr fortuneo.fr
bforbank.com banque-france.fr BE kbc.be belfius.be bnpparibasfortis.be ing.be argenta.be crelan.be NL rabobank.nl+bankieren abnamro.nl ing.nl+mijn snsbank.nl
asnbank.nl bunq.com triodos.nl LU bcee.lu spuerkeess.lu bil.com bgl.lu ES bbva.es caixabank.es bancosantander.es bankinter.com bancsabadell.com unicajabanco.es
ing.es openbank.es abanca.com kutxabank.es ibercaja.es bde.es PT cgd.pt millenniumbcp.pt novobanco.pt santander.pt bancobpi.pt montepio.pt activobank.pt IT
intesasanpaolo.com unicredit.it bancobpm.it mps.it bper.it fineco.it finecobank.com mediolanum.it bancamediolanum.it bnl.it credem.it widiba.it
poste.it+bancopostaonline+bancopostaimpresaonline PL pkobp.pl ipko.pl mbank.pl+online santander.pl centrum24.pl pekao.com.pl pekao24.pl aliorbank.pl
bnpparibas.pl bankmillennium.pl credit-agricole.pl nbp.pl CZ csas.cz george.csas.cz kb.cz csob.cz moneta.cz fio.cz+ib airbank.cz rb.cz unicreditbank.cz cnb.cz
SK slsp.sk vub.sk tatrabanka.sk csob.sk 365.bank HU otpbank.hu kh.hu erstebank.hu mbhbank.hu unicreditbank.hu granitbank.hu RO bancatransilvania.ro bcr.ro
brd.ro cec.ro unicredit.ro bt24.ro BG dskbank.bg dskdirect.bg ubb.bg unicreditbulbank.bg fibank.bg GR nbg.gr+ibank eurobank.gr alpha.gr piraeusbank.gr
winbank.gr SE swedbank.se+internetbank handelsbanken.se seb.se nordea.se lansforsakringar.se skandia.se avanza.se bankid.com NO dnb.no sparebank1.no nordea.no
sbanken.no bankid.no DK danskebank.dk nordea.dk jyskebank.dk nykredit.dk sydbank.dk netbank.dk FI nordea.fi+netbank op.fi danskebank.fi s-pankki.fi
saastopankki.fi aktia.fi EE swedbank.ee seb.ee lhv.ee luminor.ee coop.ee LV swedbank.lv seb.lv luminor.lv citadele.lv LT swedbank.lt seb.lt luminor.lt sb.lt HR
zaba.hr pbz.hr erstebank.hr SI nlb.si nkbm.si RS bancaintesa.rs IS landsbankinn.is islandsbanki.is arionbanki.is UA privatbank.ua privat24.ua monobank.ua
oschadbank.ua TR ziraatbank.com.tr isbank.com.tr garantibbva.com.tr akbank.com yapikredi.com.tr halkbank.com.tr vakifbank.com.tr qnb.com.tr IL leumi.co.il
bankhapoalim.co.il discountbank.co.il mizrahi-tefahot.co.il IN onlinesbi.sbi sbi.co.in hdfcbank.com icicibank.com axisbank.com kotak.com pnbindia.in
bankofbaroda.in rbi.org.in CN icbc.com.cn ccb.com abchina.com boc.cn bankcomm.com cmbchina.com JP mufg.jp bk.mufg.jp smbc.co.jp mizuhobank.co.jp
rakuten-bank.co.jp jp-bank.japanpost.jp netbk.co.jp sonybank.jp KR kbstar.com shinhan.com wooribank.com kebhana.com nonghyup.com kakaobank.com toss.im BR
itau.com.br bradesco.com.br bb.com.br santander.com.br caixa.gov.br nubank.com.br inter.co MX bbva.mx banorte.com banamex.com santander.com.mx hsbc.com.mx AR
bna.com.ar galicia.ar santander.com.ar bbva.com.ar macro.com.ar CL bancoestado.cl bancochile.cl bci.cl CO bancolombia.com davivienda.com PE viabcp.com
interbank.pe ZA fnb.co.za standardbank.co.za absa.co.za nedbank.co.za capitecbank.co.za SG dbs.com.sg dbs.com ocbc.com uob.com.sg MY maybank2u.com.my
cimbclicks.com.my ID bca.co.id klikbca.com bankmandiri.co.id bri.co.id TH kasikornbank.com scb.co.th bangkokbank.com VN vietcombank.com.vn techcombank.com PH
bdo.com.ph bpi.com.ph TW ctbcbank.com esunbank.com HK hsbc.com.hk hangseng.com AE emiratesnbd.com bankfab.com SA alrajhibank.com.sa NG gtbank.com
accessbankplc.com KE equitybank.co.ke
payment: * paypal.com+api stripe.com+js+api+checkout+dashboard visa.com mastercard.com americanexpress.com+global klarna.com+app+js+checkout adyen.com
checkout.com worldpay.com pay.google.com paysafecard.com alipay.com mollie.com payoneer.com squareup.com venmo.com zellepay.com braintreegateway.com
braintreepayments.com westernunion.com DE giropay.de wero-wallet.eu AT eps-ueberweisung.at CH twint.ch NL ideal.nl tikkie.me BE bancontact.com payconiq.com PL
blik.com przelewy24.pl payu.pl payu.com SE swish.nu NO vipps.no DK mobilepay.dk nets.eu ES bizum.es redsys.es PT mbway.pt sibs.pt IT nexi.it satispay.com TR
iyzico.com IN paytm.com phonepe.com razorpay.com npci.org.in JP paypay.ne.jp KR kakaopay.com BR mercadopago.com.br pagseguro.uol.com.br MX mercadopago.com KE
safaricom.co.ke US authorize.net
government: * europa.eu+ec un.org who.int nato.int DE elster.de bund.de bundesregierung.de bundestag.de arbeitsagentur.de bahn.de+next dhl.de deutschepost.de
deutsche-rentenversicherung.de auswaertiges-amt.de zoll.de bzst.de bsi.bund.de verwaltung.bund.de id.bund.de service.bund.de ausweisapp.bund.de
personalausweisportal.de destatis.de dwd.de bayern.de nrw.de hamburg.de baden-wuerttemberg.de hessen.de niedersachsen.de sachsen.de polizei.de kba.de
rundfunkbeitrag.de dpd.de myhermes.de bvg.de tagesschau.de AT oesterreich.gv.at bmf.gv.at finanzonline.bmf.gv.at usp.gv.at id-austria.gv.at oebb.at+tickets
post.at ams.at wien.gv.at ris.bka.gv.at help.gv.at CH admin.ch+eiam ch.ch sbb.ch post.ch+account zh.ch swissid.ch ahv-iv.ch UK gov.uk+account+signin
service.gov.uk tax.service.gov.uk access.service.gov.uk parliament.uk police.uk royalmail.com nationalrail.co.uk tfl.gov.uk metoffice.gov.uk dvla.gov.uk
companieshouse.gov.uk gov.scot gov.wales postoffice.co.uk IE gov.ie revenue.ie ros.ie welfare.ie mygovid.ie anpost.com irishrail.ie US usa.gov irs.gov+sa
ssa.gov+secure login.gov+secure id.me+api usps.com whitehouse.gov state.gov uscis.gov dhs.gov tsa.gov faa.gov fema.gov weather.gov noaa.gov nasa.gov
studentaid.gov treasury.gov fbi.gov census.gov congress.gov nps.gov ca.gov+dmv ny.gov texas.gov ftc.gov sec.gov uspto.gov fedex.com ups.com CA canada.ca gc.ca
cra-arc.gc.ca canadapost-postescanada.ca ontario.ca quebec.ca gov.bc.ca alberta.ca viarail.ca AU my.gov.au australia.gov.au ato.gov.au servicesaustralia.gov.au
mygovid.gov.au bom.gov.au auspost.com.au nsw.gov.au service.nsw.gov.au vic.gov.au qld.gov.au NZ govt.nz ird.govt.nz realme.govt.nz nzpost.co.nz FR
service-public.fr gouv.fr impots.gouv.fr+cfspart franceconnect.gouv.fr+app ants.gouv.fr caf.fr laposte.fr sncf.com sncf-connect.com urssaf.fr francetravail.fr
pole-emploi.fr education.gouv.fr interieur.gouv.fr legifrance.gouv.fr ratp.fr meteofrance.com info-retraite.fr BE belgium.be myminfin.be csam.be+idp
minfin.fgov.be bpost.be belgiantrain.be vlaanderen.be wallonie.be itsme.be socialsecurity.be NL digid.nl mijnoverheid.nl belastingdienst.nl+mijn
rijksoverheid.nl overheid.nl ns.nl postnl.nl uwv.nl svb.nl duo.nl politie.nl kvk.nl knmi.nl LU guichet.lu gouvernement.lu luxtrust.lu cfl.lu ES gob.es
administracion.gob.es agenciatributaria.gob.es sede.agenciatributaria.gob.es seg-social.es clave.gob.es dgt.es renfe.com correos.es sepe.es boe.es aemet.es
gencat.cat PT gov.pt eportugal.gov.pt portaldasfinancas.gov.pt acesso.gov.pt seg-social.pt cp.pt ctt.pt IT inps.it agenziaentrate.gov.it gov.it spid.gov.it
italia.it governo.it trenitalia.com interno.gov.it posteitaliane.it comune.roma.it italotreno.it comune.milano.it PL gov.pl podatki.gov.pl login.gov.pl
pacjent.gov.pl zus.pl epuap.gov.pl mobywatel.gov.pl pkp.pl intercity.pl poczta-polska.pl inpost.pl CZ gov.cz portal.gov.cz mojedatovaschranka.cz
financnisprava.cz cssz.cz cd.cz ceskaposta.cz SK slovensko.sk financnasprava.sk posta.sk zssk.sk HU magyarorszag.hu gov.hu nav.gov.hu mav.hu mavcsoport.hu
posta.hu ugyfelkapu.gov.hu RO gov.ro anaf.ro ghiseul.ro posta-romana.ro cfrcalatori.ro BG egov.bg nra.bg nap.bg bdz.bg GR gov.gr aade.gr gsis.gr efka.gov.gr
elta.gr SE skatteverket.se forsakringskassan.se 1177.se regeringen.se sj.se postnord.se arbetsformedlingen.se polisen.se smhi.se NO norge.no nav.no
skatteetaten.no altinn.no regjeringen.no posten.no vy.no yr.no DK borger.dk mitid.dk nemlog-in.dk skat.dk dsb.dk postnord.dk e-boks.dk e-boks.com politi.dk
dmi.dk FI suomi.fi vero.fi kela.fi posti.fi vr.fi poliisi.fi te-palvelut.fi EE eesti.ee emta.ee riik.ee id.ee omniva.ee LV latvija.lv latvija.gov.lv vid.gov.lv
eparaksts.lv LT epaslaugos.lt vmi.lt sodra.lt HR gov.hr porezna-uprava.hr hzzo.hr SI gov.si edavki.durs.si RS euprava.gov.rs IS island.is skatturinn.is UA
diia.gov.ua gov.ua ukrposhta.ua novaposhta.ua uz.gov.ua kmu.gov.ua TR turkiye.gov.tr giris.turkiye.gov.tr gib.gov.tr sgk.gov.tr ptt.gov.tr meb.gov.tr IL gov.il
btl.gov.il rail.co.il IN india.gov.in uidai.gov.in incometax.gov.in digilocker.gov.in irctc.co.in indianrail.gov.in epfindia.gov.in passportindia.gov.in
mygov.in indiapost.gov.in gst.gov.in CN gov.cn 12306.cn chinatax.gov.cn JP e-gov.go.jp nta.go.jp myna.go.jp digital.go.jp japanpost.jp post.japanpost.jp
jreast.co.jp jma.go.jp KR gov.kr hometax.go.kr nhis.or.kr korail.com letskorail.com epost.go.kr BR gov.br+acesso+sso receita.fazenda.gov.br correios.com.br MX
gob.mx sat.gob.mx imss.gob.mx cfe.mx AR argentina.gob.ar afip.gob.ar arca.gob.ar anses.gob.ar CL gob.cl sii.cl chileatiende.gob.cl claveunica.gob.cl CO gov.co
dian.gov.co PE gob.pe sunat.gob.pe ZA gov.za sars.gov.za sassa.gov.za SG gov.sg singpass.gov.sg iras.gov.sg MY gov.my hasil.gov.my ID go.id pajak.go.id TH go.th
rd.go.th VN dichvucong.gov.vn PH gov.ph sss.gov.ph TW gov.tw nat.gov.tw HK gov.hk AE u.ae uaepass.ae SA absher.sa my.gov.sa EG egypt.gov.eg NG gov.ng KE
ecitizen.go.ke
health: * doctolib.de doctolib.fr mayoclinic.org healthline.com redcross.org DE tk.de barmer.de dak.de aok.de ikk-classic.de gematik.de rki.de gesund.bund.de
116117.de jameda.de charite.de docmorris.de apotheken.de drk.de allianz.de AT gesundheit.gv.at elga.gv.at sozialversicherung.at oegk.at roteskreuz.at CH css.ch
swica.ch helsana.ch concordia.ch suva.ch UK nhs.uk+login+111+access nhs.net nhsapp.service.nhs.uk bupa.co.uk IE hse.ie vhi.ie US cdc.gov nih.gov+ncbi.nlm
medicare.gov healthcare.gov medicaid.gov va.gov fda.gov cms.gov cvs.com walgreens.com kaiserpermanente.org+healthy bcbs.com aetna.com cigna.com humana.com
uhc.com mychart.com clevelandclinic.org anthem.com goodrx.com CA sunlife.ca health.gov.on.ca AU medicareaustralia.gov.au healthdirect.gov.au medibank.com.au FR
ameli.fr+assure monespacesante.fr has-sante.fr maiia.com BE mijngezondheid.belgie.be masante.belgique.be riziv.fgov.be NL thuisarts.nl zorgdomein.nl
zilverenkruis.nl vgz.nl rivm.nl ES sanidad.gob.es sanitas.es PT sns24.gov.pt sns.gov.pt IT salute.gov.it fascicolosanitario.gov.it PL nfz.gov.pl znanylekarz.pl
ezdrowie.gov.pl CZ vzp.cz nzip.cz SK vszp.sk HU eeszt.gov.hu SE apoteket.se NO helsenorge.no fhi.no DK sundhed.dk FI kanta.fi omakanta.fi thl.fi EE digilugu.ee
TR enabiz.gov.tr mhrs.gov.tr saglik.gov.tr IL clalit.co.il maccabi4u.co.il IN cowin.gov.in mohfw.gov.in JP mhlw.go.jp BR saude.gov.br ZA discovery.co.za AR
pami.org.ar
os: * microsoft.com+account+support+login+learn+teams+apps+download windows.com microsoftonline.com+login windowsupdate.com sharepoint.com onedrive.com
onedrive.live.com teams.live.com azure.com microsoftstore.com apple.com+appleid+account+support+apps+itunes+developer+idmsa+gsa apple-cloudkit.com cdn-apple.com
mzstatic.com icloud-content.com me.com android.com play.google.com chromium.org source.android.com mozilla.org+support+accounts firefox.com+accounts
ubuntu.com+packages canonical.com debian.org+packages fedoraproject.org redhat.com+access archlinux.org+aur opensuse.org suse.com linuxmint.com kernel.org
freebsd.org raspberrypi.com raspberrypi.org alpinelinux.org gentoo.org nixos.org+cache gnome.org kde.org flathub.org+dl snapcraft.io+api f-droid.org openwrt.org
lineageos.org pi-hole.net adguard.com home-assistant.io synology.com qnap.com truenas.com vivaldi.com ntp.org
social: * facebook.com+m+mbasic+touch fb.com instagram.com threads.net threads.com twitter.com+mobile+api x.com linkedin.com reddit.com+old+new redd.it+i+v
pinterest.com pin.it tumblr.com tiktok.com+m snapchat.com+accounts quora.com medium.com mastodon.social bsky.app+cdn+public.api flickr.com imgur.com+i
meetup.com nextdoor.com wordpress.com blogger.com strava.com bereal.com fbcdn.net cdninstagram.com twimg.com+pbs+abs redditmedia.com redditstatic.com licdn.com
pinimg.com+i DE xing.com pinterest.de jodel.com NL pinterest.nl PL wykop.pl LV draugiem.lv CN weibo.com zhihu.com bilibili.com JP ameblo.jp note.com
hatena.ne.jp KR dcinside.com UK mumsnet.com pinterest.co.uk IN sharechat.com
messenger: * whatsapp.com+web+faq whatsapp.net+g messenger.com+www.m telegram.org+web+core+my telegram.me t.me signal.org+chat+storage+updates2 threema.ch+web
discord.com+canary discord.gg discordapp.com+cdn discordapp.net+media skype.com+web viber.com wechat.com+web weixin.qq.com wx.qq.com slack.com+app+api
zoom.us+us02web+us04web+us05web webex.com jitsi.org meet.jit.si element.io+app matrix.org+matrix-client kakao.com+accounts wire.com+app gotomeeting.com
games: * steampowered.com+store+api+login+help steamcommunity.com steamstatic.com+cdn.cloudflare steamcontent.com epicgames.com+store+accounts unrealengine.com
playstation.com+store+my playstation.net xbox.com+account xboxlive.com nintendo.com+accounts nintendo.net nintendo.de nintendo.co.jp roblox.com+web+api+auth
rbxcdn.com minecraft.net mojang.com+api+sessionserver ea.com+accounts+signin origin.com ubisoft.com+account+store battle.net+eu+us+account blizzard.com
riotgames.com+auth leagueoflegends.com gog.com+login fortnite.com chess.com lichess.org twitch.tv+m+id+gql+api ttvnw.net itch.io wargaming.net supercell.com
miniclip.com kahoot.it kahoot.com humblebundle.com valvesoftware.com valorant.com hoyoverse.com bungie.net faceit.com speedrun.com poki.com
streaming: * youtube.com+m+music+studio+tv youtu.be youtube-nocookie.com youtubekids.com googlevideo.com ytimg.com+i ggpht.com+yt3 netflix.com nflximg.net
nflxext.com+assets nflxso.net spotify.com+open+accounts+api+play scdn.co+i spotifycdn.com disneyplus.com disney.com primevideo.com hulu.com max.com
hbomax.com+play paramountplus.com peacocktv.com tv.apple.com music.apple.com vimeo.com+player vimeocdn.com dailymotion.com soundcloud.com+api+w sndcdn.com
deezer.com tidal.com+listen bandcamp.com crunchyroll.com plex.tv+app audible.com dazn.com espn.com tunein.com shazam.com imdb.com ted.com DE ardmediathek.de
ard.de zdf.de daserste.de rtl.de joyn.de sky.de wow.de waipu.tv zattoo.com ardaudiothek.de deutschlandfunk.de br.de ndr.de wdr.de swr.de mdr.de rbb-online.de
arte.tv kika.de prosieben.de audible.de magenta.tv AT orf.at+tvthek+on servustv.com CH srf.ch rts.ch rsi.ch srgssr.ch playsuisse.ch UK bbc.co.uk+account+news
bbc.com+session bbci.co.uk itv.com channel4.com channel5.com nowtv.com uktv.co.uk IE rte.ie virginmediatelevision.ie US nbc.com abc.com cbs.com fox.com cnn.com
npr.org pandora.com siriusxm.com iheart.com sling.com tubitv.com pluto.tv nbcnews.com CA cbc.ca ctv.ca crave.ca globaltv.com AU abc.net.au+iview 9now.com.au
7plus.com.au sbs.com.au stan.com.au binge.com.au kayosports.com.au NZ tvnz.co.nz rnz.co.nz FR france.tv francetvinfo.fr tf1.fr canalplus.com radiofrance.fr
m6.fr molotov.tv BE vrt.be rtbf.be vtm.be NL npo.nl npostart.nl nos.nl videoland.com rtl.nl LU rtl.lu ES rtve.es atresplayer.com mitele.es PT rtp.pt sic.pt
tvi.pt IT rai.it raiplay.it PL vod.tvp.pl tvn24.pl player.pl polsat.pl CZ ceskatelevize.cz nova.cz iprima.cz SK rtvs.sk stvr.sk markiza.sk HU mediaklikk.hu
rtl.hu RO tvr.ro protv.ro BG bnt.bg btv.bg nova.bg GR ert.gr ertflix.gr SE svt.se svtplay.se sverigesradio.se tv4.se tv4play.se viaplay.se NO nrk.no+tv+radio
tv2.no viaplay.no DK dr.dk tv2.dk viaplay.dk FI yle.fi+areena mtv.fi ruutu.fi EE err.ee LV lsm.lv tet.lv LT lrt.lt UA suspilne.media TR trt.net.tr trtizle.com
IL kan.org.il IN hotstar.com jiocinema.com zee5.com sonyliv.com jiosaavn.com gaana.com CN iqiyi.com youku.com v.qq.com JP nhk.or.jp nhk.jp abema.tv tver.jp KR
kbs.co.kr imbc.com sbs.co.kr tving.com wavve.com BR globoplay.globo.com MX televisa.com vix.com ZA dstv.com showmax.com sabc.co.za
shop: * amazon.com+smile ebay.com+signin etsy.com ikea.com alibaba.com walmart.com target.com bestbuy.com costco.com homedepot.com lowes.com wayfair.com
booking.com+account airbnb.com expedia.com tripadvisor.com uber.com+m+auth ubereats.com lyft.com doordash.com shopify.com myshopify.com zalando.com hm.com
zara.com nike.com adidas.com decathlon.com vinted.com trivago.com kayak.com skyscanner.net skyscanner.com ryanair.com easyjet.com lufthansa.com wizzair.com
britishairways.com klm.com airfrance.com emirates.com delta.com united.com aa.com southwest.com asos.com craigslist.org deliveroo.com justeat.com mcdonalds.com
starbucks.com DE amazon.de ebay.de+signin kleinanzeigen.de ebay-kleinanzeigen.de otto.de zalando.de mediamarkt.de saturn.de lidl.de aldi-sued.de aldi-nord.de
rewe.de edeka.de dm.de rossmann.de kaufland.de thalia.de idealo.de check24.de mobile.de autoscout24.de obi.de bauhaus.info hornbach.de ikea.de lieferando.de
notebooksbilliger.de alternate.de flixbus.de hermes.de eventim.de conrad.de tchibo.de penny.de netto-online.de AT amazon.at billa.at spar.at hofer.at
geizhals.at interspar.at CH galaxus.ch digitec.ch migros.ch coop.ch ricardo.ch brack.ch UK amazon.co.uk ebay.co.uk argos.co.uk tesco.com sainsburys.co.uk
asda.com morrisons.com waitrose.com johnlewis.com marksandspencer.com next.co.uk currys.co.uk rightmove.co.uk ocado.com screwfix.com diy.com zoopla.co.uk IE
dunnesstores.com supervalu.ie donedeal.ie daft.ie US kroger.com zillow.com ticketmaster.com macys.com nordstrom.com kohls.com chewy.com newegg.com instacart.com
grubhub.com CA amazon.ca canadiantire.ca loblaws.ca kijiji.ca bestbuy.ca walmart.ca AU amazon.com.au ebay.com.au woolworths.com.au coles.com.au bunnings.com.au
jbhifi.com.au realestate.com.au kmart.com.au NZ thewarehouse.co.nz FR amazon.fr ebay.fr leboncoin.fr cdiscount.com fnac.com darty.com carrefour.fr leclerc.com
e.leclerc auchan.fr boulanger.com leroymerlin.fr decathlon.fr blablacar.fr vinted.fr BE amazon.com.be bol.com colruyt.be delhaize.be 2dehands.be 2ememain.be
coolblue.be NL amazon.nl marktplaats.nl ah.nl jumbo.com coolblue.nl wehkamp.nl hema.nl thuisbezorgd.nl funda.nl LU auchan.lu ES amazon.es ebay.es
elcorteingles.es mercadona.es carrefour.es wallapop.com milanuncios.com idealista.com pccomponentes.com PT worten.pt continente.pt olx.pt pingodoce.pt IT
amazon.it ebay.it subito.it esselunga.it mediaworld.it unieuro.it coop.it conad.it immobiliare.it PL allegro.pl amazon.pl olx.pl mediaexpert.pl empik.com
ceneo.pl x-kom.pl biedronka.pl rossmann.pl otomoto.pl CZ alza.cz mall.cz heureka.cz rohlik.cz sreality.cz datart.cz SK alza.sk bazos.sk HU emag.hu alza.hu
jofogas.hu hasznaltauto.hu RO emag.ro olx.ro altex.ro BG emag.bg olx.bg GR skroutz.gr public.gr xe.gr SE blocket.se ica.se elgiganten.se amazon.se coop.se NO
finn.no elkjop.no komplett.no oda.com DK dba.dk elgiganten.dk bilka.dk nemlig.com FI tori.fi verkkokauppa.com s-kaupat.fi k-ruoka.fi gigantti.fi EE kaup24.ee
osta.ee LV 1a.lv LT pigu.lt skelbiu.lt HR njuskalo.hr SI bolha.com RS kupujemprodajem.com UA rozetka.com.ua olx.ua prom.ua TR trendyol.com hepsiburada.com
amazon.com.tr sahibinden.com n11.com IL yad2.co.il ksp.co.il IN amazon.in flipkart.com myntra.com swiggy.com zomato.com makemytrip.com bigbasket.com CN
tmall.com jd.com pinduoduo.com meituan.com dianping.com JP amazon.co.jp rakuten.co.jp mercari.com yodobashi.com kakaku.com zozo.jp KR coupang.com 11st.co.kr
auction.co.kr BR amazon.com.br mercadolivre.com.br americanas.com.br shopee.com.br ifood.com.br MX amazon.com.mx mercadolibre.com.mx liverpool.com.mx AR
mercadolibre.com.ar mercadolibre.com CL mercadolibre.cl falabella.com CO mercadolibre.com.co ZA takealot.com checkers.co.za gumtree.co.za SG shopee.sg lazada.sg
amazon.sg grab.com ID tokopedia.com shopee.co.id TH shopee.co.th lazada.co.th VN shopee.vn PH shopee.ph lazada.com.ph AE amazon.ae noon.com EG amazon.eg NG
jumia.com TW shopee.tw momoshop.com.tw
vendor: * samsung.com+account adobe.com+account+helpx+get hp.com+support dell.com lenovo.com asus.com acer.com nvidia.com intel.com amd.com sony.com lg.com
panasonic.com philips.com bosch.com siemens.com canon.com epson.com brother.com logitech.com garmin.com+connect fitbit.com sonos.com bose.com gopro.com
tesla.com+auth bmw.com mercedes-benz.com volkswagen.com toyota.com xiaomi.com mi.com huawei.com oneplus.com oppo.com tp-link.com netgear.com avm.de fritz.com
ui.com mikrotik.com cisco.com oracle.com+login ibm.com vmware.com autodesk.com+accounts dropbox.com notion.so trello.com atlassian.com+id atlassian.net
figma.com grammarly.com duolingo.com 1password.com+my bitwarden.com+vault lastpass.com dashlane.com eset.com malwarebytes.com bitdefender.com miele.com
irobot.com ring.com nest.com+home ecobee.com meross.com shelly.cloud sipgate.de wetransfer.com doodle.com khanacademy.org coursera.org udemy.com edx.org
instructure.com blackboard.com moodle.org scratch.mit.edu
infrastructure: * cloudflare.com+cdnjs+challenges+dash+one cloudflare.net pages.dev workers.dev amazonaws.com s3.amazonaws.com s3.eu-central-1.amazonaws.com
s3.eu-west-1.amazonaws.com s3.us-west-2.amazonaws.com elb.amazonaws.com aws.amazon.com+console signin.aws.amazon.com media-amazon.com+m ssl-images-amazon.com
images-amazon.com cloudfront.net awsstatic.com awsglobalaccelerator.com elasticbeanstalk.com
googleapis.com+fonts+ajax+maps+storage+youtube+oauth2+play+firestore gstatic.com+fonts+ssl+maps googleusercontent.com+lh3+lh4+lh5+lh6 withgoogle.com web.app
appspot.com run.app cloudfunctions.net recaptcha.net pki.goog blogspot.com sites.google.com script.google.com cloud.google.com azureedge.net azurewebsites.net
azurestaticapps.net windows.net core.windows.net blob.core.windows.net cloudapp.net cloudapp.azure.com azurefd.net trafficmanager.net msauth.net msftauth.net
aadcdn.msauth.net akadns.net live.net office.net sharepointonline.com microsoftonline-p.com s-microsoft.com bunny.net bunnycdn.com akamai.com akamai.net
akamaized.net akamaihd.net akamaiedge.net edgekey.net edgesuite.net fastly.com fastly.net fastlylb.net map.fastly.net jsdelivr.net+cdn+data unpkg.com cdnjs.com
esm.sh bootstrapcdn.com+maxcdn+stackpath jquery.com+code fontawesome.com+use+kit fonts.bunny.net fonts.net kxcdn.com keycdn.com cdn77.com cdn77.org imgix.net
cloudinary.com+res lencr.org letsencrypt.org identrust.com digicert.com sectigo.com globalsign.com godaddy.com usertrust.com github.com+api+raw+gist+codeload
github.io githubusercontent.com+raw+avatars+objects+user-images+camo githubassets.com github.dev gitlab.com gitlab.io gitlab-static.net bitbucket.org
codeberg.org codeberg.page sourceforge.net npmjs.com npmjs.org pypi.org pythonhosted.org crates.io rust-lang.org+static nodejs.org python.org golang.org
go.dev+pkg docker.com+hub docker.io ghcr.io quay.io rubygems.org packagist.org apache.org+repo.maven gradle.org+plugins+services nuget.org+api
hackage.haskell.org cpan.org cran.r-project.org debian.net launchpad.net launchpadcontent.net readthedocs.io readthedocs.org netlify.app netlify.com vercel.app
vercel.com herokuapp.com heroku.com fly.dev render.com codepen.io huggingface.co hf.co supabase.co mongodb.net digitalocean.com digitaloceanspaces.com
ondigitalocean.app linode.com linodeobjects.com vultr.com hetzner.com hetzner.de ovh.com ovh.net ovhcloud.com scaleway.com backblazeb2.com wasabisys.com
wixstatic.com wix.com+static squarespace.com squarespace-cdn.com wp.com wordpress.org+s.w webflow.io webflow.com jimdo.com shopifycdn.com cdn.shopify.com
bigcommerce.com zendesk.com zdassets.com hcaptcha.com+js+api+newassets auth0.com+cdn okta.com oktacdn.com onelogin.com duosecurity.com dropboxusercontent.com
dropboxstatic.com box.com boxcdn.net slack-edge.com twilio.com sendgrid.com mapbox.com+api maptiler.com openweathermap.org+api root-servers.net iana.org
icann.org ripe.net arin.net verisign.com denic.de nic.uk afnic.fr
`;
