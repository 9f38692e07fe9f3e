import { shown } from '@tollway/schema';
import { CannotWork } from '../../compiler/cannot-work.js';
import type { CompileContext } from '../../compiler/context.js';
import { type FieldError, fault, type ProposedRow } from '../../config/proposed-row.js';
import { logActions, logRuleOf, logRuleRows } from '../../logging/settings.js';
import { regexProblem } from '../../posix-regex/regex.js';
import type { MenuModule } from '../module.js';

export const systemLogging: MenuModule = {
  path: '/system/logging',
  check: checkRegex,
  // The data plane gives its messages to the API, which has the rules: nothing of them is compiled.
  compile: (context) => {
    noteIdleRules(context);
    return {};
  },
};

function checkRegex({ values: { regex }, given }: ProposedRow): FieldError | undefined {
  const problem = regex === undefined || !given.has('regex') ? undefined : regexProblem(regex);
  if (problem === undefined) return undefined;
  return fault('regex', `value of regex: ${shown(regex ?? '')} is no extended regular expression of POSIX: ${problem}`);
}

/** Rules whose action sends nothing are invalid. */
function noteIdleRules(context: CompileContext): void {
  const idle = new Set(
    logActions(context.snapshot).flatMap(({ name, target }) => (target.kind === 'none' ? name : [])),
  );
  for (const row of logRuleRows(context.snapshot)) {
    const { action } = logRuleOf(row);
    if (row.disabled || !idle.has(action)) continue;
    context.attempt(row, () => {
      throw new CannotWork(`action ${action} sends nothing: its remote is not set`);
    });
  }
}
