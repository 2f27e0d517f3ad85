/** The style of all pages. In both colour schemes, text has a contrast of at least 4.5:1. */
export const PAGE_STYLE = `
:root{color-scheme:light dark;--ground:#fff;--card:#f6f7f9;--ink:#16181d;--faint:#5a6070;--line:#d5d9e0;--good:#17693a;--warn:#8a5300;--bad:#b3261e;--blue:#1f5fbf}
@media (prefers-color-scheme:dark){:root{--ground:#121419;--card:#1b1e25;--ink:#e8eaf0;--faint:#a3a9b8;--line:#343945;--good:#63d392;--warn:#f0b35a;--bad:#ff8f86;--blue:#7db0ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main,header{max-width:62rem;margin:0 auto;padding:1rem}
header{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:baseline}
h1{font-size:1.4rem;margin:0}
h2{font-size:1.1rem;margin:2rem 0 .5rem}
.faint{color:var(--faint)}
.good{color:var(--good)}.warn{color:var(--warn)}.bad{color:var(--bad)}
.card{background:var(--card);border:1px solid var(--line);border-radius:.5rem;padding:.75rem 1rem;margin:.5rem 0}
.state{font-size:1.2rem;font-weight:600}
dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(9rem,1fr));gap:.5rem 1rem;margin:.75rem 0 0}
dt{color:var(--faint);font-size:.85rem}dd{margin:0;font-weight:600;overflow-wrap:anywhere}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.35rem .75rem .35rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--faint);font-weight:500;font-size:.85rem}
td.n,th.n{text-align:right}
.bar-box{width:100%;height:.3rem;border:0;color:var(--blue)}
figure{margin:1rem 0}figcaption{color:var(--faint)}figcaption b{color:var(--ink)}
svg{width:100%;height:9rem;display:block;border-bottom:1px solid var(--line)}
polyline{fill:none;stroke:var(--blue);stroke-width:2;vector-effect:non-scaling-stroke}
rect.bad{fill:var(--bad);opacity:.6}
.axis{display:flex;justify-content:space-between;gap:1rem;color:var(--faint);font-size:.8rem;margin:.25rem 0 0}
a{color:var(--blue)}
form{display:flex;gap:.5rem;flex-wrap:wrap;margin:1rem 0}
input,select,button{font:inherit;max-width:100%;padding:.4rem .6rem;border:1px solid var(--faint);border-radius:.35rem;background:var(--ground);color:var(--ink)}
input{flex:1 1 16rem;min-width:0}
button{background:var(--card);padding:.4rem .9rem}
code{font-family:ui-monospace,monospace;overflow-wrap:anywhere}
@media (max-width:40rem){
thead{display:none}
tr{display:grid;grid-template-columns:1fr auto;gap:0 1rem;border-bottom:1px solid var(--line);padding:.4rem 0}
td,td.n{border:0;padding:0;text-align:left}
td:first-child{grid-column:1/-1;font-weight:600;overflow-wrap:anywhere}
td[data-name]::before{content:attr(data-name) " ";color:var(--faint);font-size:.85rem}
}
@media print{.card{break-inside:avoid}}
`;
