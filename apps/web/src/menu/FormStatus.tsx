import type { Menu } from '@tollway/schema';
import type { Row } from '../api/row.ts';
import { isSet } from './cells/text.ts';

/** The texts of the status line of a dialog; an empty text reserves the space of a state that does not apply now. */
export function statusWords(menu: Menu, row: Row): readonly string[] {
  const flags = menu.flags.filter((flag) => flag.prop !== 'disabled');
  const words = flags.map((flag) => (isSet(row, flag.prop) ? flag.title : ''));
  if (menu.props.disabled === undefined) return words;
  return [isSet(row, 'disabled') ? 'disabled' : 'enabled', ...words];
}

/** The state of an item as texts, below its dialog. */
export function FormStatus({ menu, row }: { readonly menu: Menu; readonly row: Row }) {
  const words = statusWords(menu, row);
  if (words.length === 0) return null;
  return (
    <footer className="form-status">
      {words.map((word, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: words have no identity but their place
        <span key={at} className={`state state-${word === '' ? 'off' : word.replaceAll(' ', '-')}`}>
          {word}
        </span>
      ))}
    </footer>
  );
}
