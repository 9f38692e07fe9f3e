import type { DataplaneConfig } from '@tollway/dataplane-agent';
import { FORMAT } from '@tollway/dataplane-agent/records';
import type { ConfigSnapshot } from '../snapshot/snapshot.js';
import { CompileContext } from './context.js';

export interface Compiled {
  readonly config: DataplaneConfig;
  /** Stored rows that cannot work, by row id, with the reason for people. They are not in `config`. */
  readonly invalid: ReadonlyMap<number, string>;
  /** Offset of the clock that `config` depends on, seconds; undefined when no rule asks for the time. */
  readonly utcOffsetS: number | undefined;
}

/** Sections of the compiled configuration that menus contribute to. */
type Sections = Omit<DataplaneConfig, 'format' | 'mark-names'>;

/** Compiler of a menu's sections of the configuration. */
export type CompileSections = (context: CompileContext) => Partial<Sections>;

/** Translates the stored configuration into what the data plane reads. */
export type Compile = (snapshot: ConfigSnapshot, utcOffsetS?: number) => Compiled;

/**
 * Translates the stored configuration into what the data plane reads: names become row ids, texts become
 * integers, lists are expanded, disabled rows and rows that cannot work are left out. Pure and total: a
 * row that cannot be translated is reported in `invalid`, never thrown.
 * @param menus the compiler of each menu, in the order in which marks and address lists get their numbers
 * @param utcOffsetS offset of the router's clock from UTC, for conditions on the time of day, seconds.
 */
export function compileMenus(
  menus: readonly CompileSections[],
  snapshot: ConfigSnapshot,
  utcOffsetS: number,
): Compiled {
  const context = new CompileContext(snapshot, utcOffsetS);
  const config: PartOfConfig = { ...SECTIONS, format: FORMAT };
  for (const compile of menus) addSections(config, compile(context));
  config['mark-names'] = context.marks.compiled();
  if (!isWhole(config)) throw new Error('a section of the compiled configuration is given by no menu');
  return { config, invalid: context.invalid, utcOffsetS: context.dependsOnTime ? utcOffsetS : undefined };
}

/** All sections, in the order in which they are written; those that no menu need give are empty. */
const SECTIONS: Readonly<Record<keyof DataplaneConfig, undefined | readonly []>> = {
  format: undefined,
  settings: undefined,
  tracking: undefined,
  interfaces: undefined,
  addresses: undefined,
  routes: undefined,
  'routing-tables': [],
  'routing-rules': [],
  neighbors: undefined,
  'address-lists': undefined,
  filter: undefined,
  nat: undefined,
  mangle: undefined,
  'ipv6-address-lists': [],
  'ipv6-filter': [],
  'ipv6-nat': [],
  'ipv6-mangle': [],
  'mark-names': undefined,
  'queue-types': undefined,
  'simple-queues': undefined,
  'tree-queues': undefined,
  'interface-queues': undefined,
};

type PartOfConfig = { [Section in keyof DataplaneConfig]: unknown };

/**
 * Adds the sections that a menu contributes. Several menus may add rows to one section, such as interfaces of several
 * types; their rows are concatenated.
 * @throws Error for a section that is no list of rows and that another menu has already set
 */
function addSections(config: PartOfConfig, sections: Partial<Sections>): void {
  for (const [name, section] of Object.entries(sections) as [keyof Sections, unknown][]) {
    const given = config[name];
    if (given === undefined) config[name] = section;
    else if (Array.isArray(given) && Array.isArray(section)) config[name] = [...given, ...section];
    else throw new Error(`section ${name} of the compiled configuration is given by two menus`);
  }
}

const isWhole = (config: Readonly<PartOfConfig>): config is DataplaneConfig =>
  Object.values(config).every((section) => section !== undefined);
