/** The style of the report, in addition to the style of all pages. */
export const REPORT_STYLE: string = `
#answer{min-height:1.5em;font-weight:600;overflow-wrap:anywhere;margin:.5rem 0 0}
#answer.blocked{color:var(--bad)}#answer.allowed{color:var(--good)}#answer.rewritten{color:var(--warn)}
ul.bars{list-style:none;margin:.5rem 0;padding:0;columns:22rem;column-gap:2rem}ul.bars li{break-inside:avoid}
ul.names{margin:0;padding:0;list-style:none;overflow-wrap:anywhere}ul.names li{padding:.2rem 0;border-bottom:1px solid var(--line)}ul.names .faint{font-size:.85rem;margin-left:.25rem}
ul.bars li{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 1rem;padding:.2rem 0}
ul.bars .name{overflow-wrap:anywhere}ul.bars .number{text-align:right;font-variant-numeric:tabular-nums}
ul.bars svg{grid-column:1/-1;height:.5rem;border:0}
rect.whole{fill:var(--blue);opacity:.4}rect.part{fill:var(--blue)}
.flow svg{height:auto;border:0}.flow text{font-size:12px;fill:var(--ink)}
.band{fill:none;stroke:var(--faint);opacity:.25}.good-band{stroke:var(--good);opacity:.45}
rect.node{fill:var(--faint)}rect.kept{fill:var(--good)}
table.heat td,table.heat th{overflow-wrap:normal;white-space:nowrap;padding:.15rem .35rem;text-align:right;border:1px solid var(--line)}
table.heat th[scope=row]{text-align:left;white-space:nowrap;max-width:18rem;overflow:hidden;text-overflow:ellipsis;color:var(--ink)}
table.heat .self{color:var(--faint)}
${Array.from({ length: 10 }, (_, step) => `.h${step}{background:color-mix(in srgb,var(--blue) ${step * 5}%,var(--ground))}`).join("")}
@media (max-width:40rem){.flow{display:none}table.heat th[scope=row]{max-width:8rem}table.heat thead{display:table-header-group}table.heat tr{display:table-row}table.heat td,table.heat td:first-child,table.heat th{display:table-cell;font-weight:400;overflow-wrap:normal;white-space:nowrap;padding:.15rem .35rem;border:1px solid var(--line)}table.heat thead th:first-child{max-width:8rem;white-space:normal}}
@media print{#search-section{display:none}table.heat{font-size:8pt}}
`;
