// SPDX-License-Identifier: Apache-2.0
// Copyright the TaskClock authors
//
// node check.mjs DASHBOARD.json...
//
// Checks dashboards against the types that Grafana publishes: the dashboard and its panels, the options of each type of
// panel, and the queries. Unknown properties are errors. The TypeScript compiler does the work: each JSON file becomes a
// literal with a declared type. Prints one line per file, or the errors, and then exits with 1.

import { readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const directory = dirname(fileURLToPath(import.meta.url));

const panelTypes = {
  timeseries: ['TimeSeriesPanelCfg', true],
  stat: ['StatPanelCfg', false],
  bargauge: ['BarGaugePanelCfg', false],
  table: ['TablePanelCfg', true],
  bargauge: ['BarGaugePanelCfg', false],
};

// JSON has the values of enumerations, which are no literals of their types.
const header = `
import type { Dataquery as PrometheusQuery } from '@grafana/grafana-foundation-sdk/prometheus';
import type { Dashboard, Panel } from '@grafana/schema/dist/esm/raw/dashboard/x/Dashboard_types.gen';
${Object.entries(panelTypes)
  .map(([type, [name]]) => `import type * as ${type} from '@grafana/schema/dist/esm/raw/composable/${type}/panelcfg/x/${name}_types.gen';`)
  .join('\n')}

type Plain<T> = T extends string ? \`\${T}\`
  : T extends number | boolean | null | undefined ? T
  : T extends (infer E)[] ? Plain<E>[]
  : T extends (...args: never[]) => unknown ? never
  : unknown extends T ? T
  : { [K in keyof T]: Plain<T[K]> };
type Query = Plain<Omit<PrometheusQuery, '_implementsDataqueryVariant'>>;
`;

function declarations(dashboard) {
  const { panels, ...rest } = dashboard;
  let text = header + `export const dashboard: Plain<Omit<Dashboard, 'panels'>> = ${JSON.stringify(rest, null, 1)};\n`;
  for (const panel of panels) {
    const known = panelTypes[panel.type];
    if (!known) throw new Error(`panel ${panel.id}: unknown type ${panel.type}`);
    const { options, targets, fieldConfig, ...outer } = panel;
    const { defaults: { custom, ...defaults }, ...field } = fieldConfig;
    const json = { ...outer, fieldConfig: { defaults, ...field } };
    text += `export const panel${panel.id}: Plain<Panel> = ${JSON.stringify(json, null, 1)};\n`;
    text += `export const options${panel.id}: Plain<${panel.type}.Options> = ${JSON.stringify(options, null, 1)};\n`;
    text += `export const targets${panel.id}: Query[] = ${JSON.stringify(targets, null, 1)};\n`;
    if (!custom) continue;
    if (!known[1]) throw new Error(`panel ${panel.id}: ${panel.type} has no custom field options`);
    text += `export const field${panel.id}: Plain<${panel.type}.FieldConfig> = ${JSON.stringify(custom, null, 1)};\n`;
  }
  return text;
}

const options = {
  strict: true,
  noEmit: true,
  skipLibCheck: true,
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  target: ts.ScriptTarget.ES2022,
  types: [],
};

// The declarations, which take most of the time, are parsed once for all files.
const compilerHost = ts.createCompilerHost(options);
const parse = compilerHost.getSourceFile;
const parsed = new Map();
compilerHost.getSourceFile = (name, ...more) => {
  if (!parsed.has(name)) parsed.set(name, parse(name, ...more));
  return parsed.get(name);
};

let failed = false;
process.argv.slice(2).forEach((file, number) => {
  const source = join(directory, `dashboard${number}.ts`);
  const dashboard = JSON.parse(readFileSync(file, 'utf8'));
  writeFileSync(source, declarations(dashboard));
  const program = ts.createProgram([source], options, compilerHost);
  const errors = ts.getPreEmitDiagnostics(program);
  if (errors.length > 0) {
    failed = true;
    const host = { getCanonicalFileName: (f) => f, getCurrentDirectory: () => directory, getNewLine: () => '\n' };
    console.log(`${file}: ${errors.length} errors`);
    console.log(ts.formatDiagnostics(errors, host));
  } else {
    console.log(`${file}: ${dashboard.panels.length} panels: valid`);
  }
});
process.exit(failed ? 1 : 0);
