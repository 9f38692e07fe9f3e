import { textOf } from '../../config/content.js';
import { errors } from '../../errors.js';
import { type Answer, type Call, NOTHING } from '../../services.js';
import { checkArguments } from '../arguments.js';

/** Longest message, characters. */
const MAX_MESSAGE = 1024;

/** `/log/info` and its siblings: writes a line. */
export async function writeLog({ services, args }: Call, severity: string): Promise<Answer> {
  checkArguments(args, ['message']);
  if (args.message === undefined) throw errors.missingProperty('message', `text of at most ${MAX_MESSAGE} characters`);
  const message = textOf('message', args.message);
  if (message.length > MAX_MESSAGE) {
    throw errors.badProperty(
      'message',
      `value of message: it has ${message.length} characters, ${MAX_MESSAGE} are accepted`,
    );
  }
  services.log.add(`script,${severity}`, message);
  return NOTHING;
}
