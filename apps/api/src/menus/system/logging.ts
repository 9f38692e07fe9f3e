import { quoted } from '@tollway/schema';
import type { CompileContext } from '../../compiler/context.js';
import { InvalidRow } from '../../compiler/invalid-row.js';
import { type FieldError, fieldError, type ProposedRow } from '../../config/proposed-row.js';
import { regexProblem } from '../../logging/posix-regex.js';
import { logActions, logRuleOf, logRuleRows } from '../../logging/settings.js';
import type { MenuModule } from '../module.js';

export const systemLogging: MenuModule = {
  path: '/system/logging',
  check: checkRegex,
  // The data plane sends its messages to the API, which applies the rules: no part of them is compiled.
  compile: (context) => {
    noteInvalid(context);
    return {};
  },
};

function checkRegex({ values: { regex }, given }: ProposedRow): FieldError | undefined {
  const problem = regex === undefined || !given.has('regex') ? undefined : regexProblem(regex);
  if (problem === undefined) return undefined;
  return fieldError(
    'regex',
    `value of regex: ${quoted(regex ?? '')} is no extended regular expression of POSIX: ${problem}`,
  );
}

/** Reports rules that send nothing as invalid. */
function noteInvalid(context: CompileContext): void {
  const idle = new Set(
    logActions(context.snapshot).flatMap(({ name, target }) => (target.kind === 'none' ? name : [])),
  );
  for (const row of logRuleRows(context.snapshot)) {
    if (row.disabled) continue;
    const { action, regex } = logRuleOf(row);
    const problem = regex === undefined ? undefined : regexProblem(regex);
    context.orInvalid(row, () => {
      if (problem !== undefined) throw new InvalidRow(`regex: ${problem}`);
      if (idle.has(action)) throw new InvalidRow(`action ${action} sends nothing: its remote is not set`);
    });
  }
}
