import { menuByPath, registry } from '@tollway/schema';
import { type ConfigSnapshot, type Row, rowsOf } from './snapshot.js';

/** Interfaces are rows of several menus, one for each type. Whoever names one means any of them. */

const types = registry.filter(({ interfaceType }) => interfaceType !== undefined && interfaceType !== 'any');

/** Menus whose rows are interfaces. */
export const interfaceMenus: readonly string[] = types.map(({ path }) => path);

/** An interface, and of what type it is, `ether`. */
export interface TypedInterface {
  readonly row: Row;
  readonly type: string;
}

/** Interfaces of all types, or of those of one menu. */
export const typedInterfaces = (snapshot: ConfigSnapshot, path?: string): readonly TypedInterface[] =>
  types
    .filter((menu) => path === undefined || menu.path === path)
    .flatMap(({ path, interfaceType: type = '' }) => rowsOf(snapshot, path).map((row) => ({ row, type })));

/** Rows of the interfaces of all types. */
export const interfacesOf = (snapshot: ConfigSnapshot): readonly Row[] =>
  interfaceMenus.flatMap((path) => rowsOf(snapshot, path));

/** What an interface is called. */
export const interfaceName = ({ values }: Pick<Row, 'values'>): string => values.name ?? values['default-name'] ?? '';

/** The interface of a name, of whatever type. */
export const interfaceNamed = (snapshot: ConfigSnapshot, name: string): Row | undefined =>
  interfacesOf(snapshot).find((row) => interfaceName(row) === name);

/** Names of all interfaces by their rows. */
export const interfaceNames = (snapshot: ConfigSnapshot): ReadonlyMap<number, string> =>
  new Map(interfacesOf(snapshot).map((row) => [row.id, interfaceName(row)]));

/** Menus that hold the rows which a menu shows: itself, another one, or those of all types of interfaces. */
export function holdersOf(path: string): readonly string[] {
  const menu = menuByPath(path);
  return menu?.interfaceType === 'any' ? interfaceMenus : [menu?.rowsOf ?? path];
}
