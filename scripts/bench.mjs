#!/usr/bin/env node
// Measures the engine on memory frames and the agent against the Linux kernel router. See docs/bench/README.md.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { buildAgent, buildBench } from './bench/build.mjs';
import { CASES, selectCases } from './bench/cases.mjs';
import { runEngineCase } from './bench/engine.mjs';
import { Lab, whyNoLab } from './bench/lab.mjs';
import { formatDetails, formatTable } from './bench/report.mjs';
import { runWireCase } from './bench/wire.mjs';

const USAGE = `usage: npm run bench [-- [--case PATTERN[,PATTERN…]] [--json FILE] [--quick]]

  --case    only cases that match: a name, a prefix or a glob (engine/*, wire/iperf3)
  --json    also write the results to FILE
  --quick   shorter runs, wider error bars

cases: ${CASES.map((entry) => entry.name).join(', ')}`;

/** Prints what is wrong with the command line and ends with status 2. */
function refuse(message) {
  process.stderr.write(`${message}\n\n${USAGE}\n`);
  process.exit(2);
}

function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        case: { type: 'string', multiple: true, default: [] },
        json: { type: 'string' },
        quick: { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) {
      process.stdout.write(`${USAGE}\n`);
      process.exit(0);
    }
    return { cases: selectCases(values.case), json: values.json, quick: values.quick };
  } catch (error) {
    return refuse(error.message);
  }
}

const options = readOptions();
const note = (line) => process.stderr.write(`${line}\n`);
const results = [];
let failed = false;

const noLab = options.cases.some((entry) => entry.kind === 'wire') ? whyNoLab() : undefined;
const runnable = options.cases.filter((entry) => {
  if (entry.kind !== 'wire' || noLab === undefined) return true;
  note(`${entry.name}: skipped, ${noLab}`);
  return false;
});
if (runnable.length === 0) process.exit(1);

const bench = buildBench(note);
for (const entry of runnable) {
  note(`${entry.name} …`);
  try {
    if (entry.kind === 'engine') {
      results.push(await runEngineCase(entry, { bench, quick: options.quick, note }));
    } else {
      buildAgent(note);
      const lab = new Lab(bench);
      try {
        results.push(await runWireCase(entry, { lab, quick: options.quick, note }));
      } finally {
        await lab.remove();
      }
    }
  } catch (error) {
    failed = true;
    note(`${entry.name}: failed: ${error.message}`);
  }
}

process.stdout.write(`${formatDetails(results)}${formatTable(results)}`);
if (options.json !== undefined) {
  const cases = results.map(({ name, unit, ours, baseline, ratio, io }) => ({ name, unit, ours, baseline, ratio, io }));
  writeFileSync(options.json, `${JSON.stringify({ cases }, undefined, 2)}\n`);
}
process.exit(failed ? 1 : 0);
