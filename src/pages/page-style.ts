/**
 * The style of all pages. In both colour schemes, text has a contrast of at least 4.5:1, on the ground and on cards. Paper has
 * the colours of the light scheme.
 */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--ground:#fff;--card:#f6f7f9;--ink:#16181d;--faint:#565c6b;--line:#d5d9e0;--good:#17693a;--warn:#8a5300;--bad:#b3261e;--blue:#1f5fbf}
@media screen and (prefers-color-scheme:dark){:root{--ground:#121419;--card:#1b1e25;--ink:#e8eaf0;--faint:#a9afbd;--line:#343945;--good:#63d392;--warn:#f0b35a;--bad:#ff8f86;--blue:#7db0ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main,header{max-width:64rem;margin:0 auto;padding:1rem}
main{padding-top:0;padding-bottom:4rem}
header{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:baseline}
header nav{display:flex;flex-wrap:wrap;gap:.25rem 1rem;margin-left:auto}
h1{font-size:1.4rem;line-height:1.25;margin:0;overflow-wrap:anywhere}
h2{font-size:1.2rem;line-height:1.25;margin:2.75rem 0 .5rem}
h3{font-size:1rem;margin:1.25rem 0 .25rem}
p{margin:.5rem 0;max-width:48rem}
.faint{color:var(--faint)}
.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:.5rem 0;overflow-wrap:anywhere}
.headline{padding:1.25rem;border-left-width:.4rem}
.headline.good,.attention .good{border-left-color:var(--good)}.headline.warn,.attention .warn{border-left-color:var(--warn)}.headline.bad,.attention .bad{border-left-color:var(--bad)}
.headline,.attention>li{color:var(--ink)}
.state{font-size:1.2rem;font-weight:600}
.headline .state{display:block;font-size:1rem;margin-bottom:.25rem}
.lead{font-size:1.35rem;line-height:1.35;font-weight:600;margin:0}
ul.attention{list-style:none;margin:0;padding:0}
.attention>li{border-left-width:.4rem}.attention p{margin:.15rem 0}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:1rem;margin:1rem 0 0}
dt{color:var(--faint);font-size:.85rem}dd{margin:0;font-weight:600;overflow-wrap:anywhere;font-variant-numeric:tabular-nums}
.headline dd{font-size:1.3rem;line-height:1.3}dd small{display:block;color:var(--faint);font-size:.85rem;font-weight:400}
.columns{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr));gap:0 2rem}
.columns>*{min-width:0}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.4rem 1rem .4rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th:last-child,td:last-child{padding-right:0}
th{color:var(--faint);font-weight:500;font-size:.85rem;vertical-align:bottom}
td:first-child{overflow-wrap:anywhere}
td.n,th.n{text-align:right}td.n{white-space:nowrap}
.bar-box{width:100%;min-width:4rem;height:.3rem;border:0;color:var(--blue)}
figure{margin:1rem 0}figcaption{color:var(--faint)}figcaption b{color:var(--ink)}
svg{width:100%;height:9rem;display:block;border-bottom:1px solid var(--line)}
polyline{fill:none;stroke:var(--blue);stroke-width:2;vector-effect:non-scaling-stroke}
polygon{fill:var(--blue);opacity:.12}
rect.bad{fill:var(--bad);opacity:.6}
.axis{display:flex;justify-content:space-between;gap:1rem;color:var(--faint);font-size:.8rem;margin:.25rem 0 0;max-width:none}
.axis span:first-child,.axis span:last-child{white-space:nowrap}
a{color:var(--blue)}
form{display:flex;gap:.5rem;flex-wrap:wrap;margin:.5rem 0}
input,select,button{font:inherit;max-width:100%;padding:.5rem .75rem;border:1px solid var(--faint);border-radius:.35rem;background:var(--ground);color:var(--ink)}
input{flex:1 1 14rem;min-width:0}
input::placeholder{color:var(--faint);opacity:1}
button{background:var(--card);padding:.5rem 1rem;cursor:pointer}
:focus-visible{outline:2px solid var(--blue);outline-offset:2px}
code{font-family:ui-monospace,monospace;font-size:.9em;overflow-wrap:anywhere}
@media (max-width:40rem){
h2{margin-top:2.25rem}.lead{font-size:1.15rem}
dl{grid-template-columns:1fr 1fr}
thead{display:none}
tr{display:grid;grid-template-columns:1fr 1fr;gap:.25rem 1rem;border-bottom:1px solid var(--line);padding:.6rem 0}
td,td.n{border:0;padding:0;text-align:left;min-width:0;overflow-wrap:anywhere;white-space:normal}
td:first-child,td.whole{grid-column:1/-1}
td:first-child{font-weight:600}td:empty{display:none}
header nav{margin-left:0}
td[data-name]::before{content:attr(data-name);display:block;color:var(--faint);font-size:.8rem;font-weight:400}
}
@media print{
:root{color-scheme:light}
body{font-size:10pt}main,header{max-width:none;padding-left:0;padding-right:0}
nav,form{display:none}
.scroll{overflow:visible}table{font-size:8pt}th,td{padding-right:.5rem}.bar-box{min-width:2rem}
h2,h3{break-after:avoid}.card,figure,tr,li{break-inside:avoid}
a{color:inherit}
}
`;
