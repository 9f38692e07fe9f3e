import { isDeepStrictEqual } from 'node:util';
import { type Argument, type Command, returnsRows } from '@tollway/schema';
import { errors } from '../errors.js';
import { type Arguments, argumentText, refuseLong } from './content.js';

/** Canonical texts of arguments by name, defaults included. */
export type ArgumentValues = Readonly<Record<string, string>>;

/** Arguments that name the rows of a command of a selection. */
const ITEMS = ['.id', 'numbers'];

/**
 * The values of the arguments that a command declares. Arguments that name rows, and `.proplist`, are not included.
 * @throws ApiError for an argument that is not declared, one that is required and missing, or a value that its kind
 * does not accept.
 */
export function argumentValues(command: Command, args: Arguments): ArgumentValues {
  const declared = Object.entries(command.args);
  const allowed = new Set([
    ...declared.flatMap(([name, { aliases = [] }]) => [name, ...aliases]),
    ...(command.target === 'selection' ? ITEMS : []),
    ...(returnsRows(command) ? ['.proplist'] : []),
  ]);
  const unknown = Object.keys(args).find((name) => !allowed.has(name));
  if (unknown !== undefined) throw errors.unknownParameter(unknown);
  return Object.fromEntries(
    declared.flatMap(([name, argument]) => {
      const value = parsedArgument(name, argument, args);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

function parsedArgument(name: string, argument: Argument, args: Arguments): string | undefined {
  const value = given(name, argument, args);
  const absent = value === undefined || (value === '' && argument.unset === true);
  if (absent && argument.required === true) throw errors.missingProperty(name, argument.kind.accepts);
  if (absent) return argument.default;
  const parsed = argument.kind.parse(argumentText(name, value));
  if (!parsed.ok) throw errors.badProperty(name, `value of ${name}: ${parsed.error}`);
  return parsed.value;
}

/** The value under the argument's name or an alias. @throws ApiError when two of them have different values. */
function given(name: string, { aliases = [] }: Argument, args: Arguments): unknown {
  const names = [name, ...aliases].filter((each) => args[each] !== undefined);
  // An alias may also name a list of rows, whose length is not limited when the body is parsed.
  for (const each of names) refuseLong(each, args[each]);
  const [first, ...others] = names;
  if (first === undefined) return undefined;
  const other = others.find((each) => !isDeepStrictEqual(args[each], args[first]));
  if (other === undefined) return args[first];
  throw errors.badProperty(other, `value of ${other}: ${first} has another value; give one of the two`);
}
