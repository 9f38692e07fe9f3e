import { datetimeText } from '@tollway/schema';
import type { HeldMessage } from '../logging/memory-buffer.js';
import { type Handler, NOTHING } from '../services.js';
import { rowIdText } from '../snapshot/snapshot.js';
import type { RestRow, RowSet } from '../view/rows.js';
import type { MenuModule } from './module.js';

/** `/log/info` and the like: writes a message to the log. */
const writer =
  (severity: string): Handler =>
  async ({ services, values }) => {
    services.log.add(`script,${severity}`, values.message ?? '');
    return NOTHING;
  };

/** Messages in the memory of the log, oldest first, formatted on access. */
class LogRows implements RowSet {
  readonly #messages: readonly HeldMessage[];

  constructor(messages: readonly HeldMessage[]) {
    this.#messages = messages;
  }

  get length(): number {
    return this.#messages.length;
  }

  id(index: number): string {
    const held = this.#messages[index];
    return held === undefined ? '' : rowIdText(held.id);
  }

  value(index: number, property: string): string | undefined {
    const held = this.#messages[index];
    return held !== undefined && isShown(property) ? TEXTS[property](held) : undefined;
  }

  row(index: number): RestRow {
    const held = this.#messages[index];
    return held === undefined
      ? {}
      : Object.fromEntries(PROPERTIES.map((property) => [property, TEXTS[property](held)]));
  }
}

/** Texts of a message, by property. */
const TEXTS = {
  '.id': ({ id }: HeldMessage) => rowIdText(id),
  time: ({ timeMs }: HeldMessage) => datetimeText(timeMs),
  buffer: ({ buffer }: HeldMessage) => buffer.name,
  topics: ({ topics }: HeldMessage) => topics,
  message: ({ text }: HeldMessage) => text,
};

type Shown = keyof typeof TEXTS;

const PROPERTIES: readonly Shown[] = ['.id', 'time', 'buffer', 'topics', 'message'];

const isShown = (property: string): property is Shown => Object.hasOwn(TEXTS, property);

export const log: MenuModule = {
  path: '/log',
  view: (_, sources) => async () => new LogRows(sources.log.messages()),
  commands: { debug: writer('debug'), info: writer('info'), warning: writer('warning'), error: writer('error') },
};
