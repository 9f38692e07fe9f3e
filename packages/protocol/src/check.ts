import { Compile } from 'typebox/compile';
import type { Data, ObjectSchema } from './data.js';

/**
 * Validation of received data by its schema. Only the API uses it: browsers import the types of the schemas, and none
 * of this code.
 *
 * A property's schema may have a `refusal`: the error text for a value that it does not accept, or for a missing
 * value. Lengths of texts are checked by the code that uses them, as `maxLength` counts grapheme clusters, not code
 * units.
 */

/** Reason why a value is refused. */
export interface Refusal {
  /** Name of the invalid member; empty if the object as a whole is invalid. */
  readonly property: string;
  readonly reason: 'unknown' | 'missing' | 'repeated' | 'value' | 'no-object';
  /** Description of what is accepted. */
  readonly text: string;
}

type Checked<S extends ObjectSchema> =
  | { readonly ok: true; readonly value: Data<S> }
  | { readonly ok: false; readonly refusal: Refusal };

/** A validation error of TypeBox. */
interface Fault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
}

/** Compiles the check of a schema. */
export function checkOf<S extends ObjectSchema>(schema: S): (value: unknown) => Checked<S> {
  const compiled = Compile(schema);
  return (value) => {
    // The compiled check guarantees the type.
    if (compiled.Check(value)) return { ok: true, value: value as Data<S> };
    const faults: readonly Fault[] = compiled.Errors(value);
    return { ok: false, refusal: refusalOf(schema, faults, value) };
  };
}

function refusalOf(schema: ObjectSchema, faults: readonly Fault[], value: unknown): Refusal {
  const missing = faults.find(({ keyword, instancePath }) => keyword === 'required' && instancePath === '');
  if (missing !== undefined) {
    const property = firstName(missing.params, 'requiredProperties');
    return { property, reason: 'missing', text: refusalText(schema, property) };
  }
  const first = faults.find(({ instancePath }) => instancePath !== '');
  if (first === undefined) return { property: '', reason: 'no-object', text: 'it must be one JSON object' };
  const [, name = ''] = first.instancePath.split('/');
  const property = unescaped(name);
  if (propertyOf(schema, property) === undefined) return { property, reason: 'unknown', text: '' };
  const given: unknown = typeof value === 'object' && value !== null ? Reflect.get(value, property) : undefined;
  return {
    property,
    reason: Array.isArray(given) && isText(schema, property) ? 'repeated' : 'value',
    text: refusalText(schema, property),
  };
}

/** Decodes a reference token of a JSON Pointer, RFC 6901 section 4. */
const unescaped = (part: string): string => part.replaceAll('~1', '/').replaceAll('~0', '~');

function propertyOf({ properties }: ObjectSchema, name: string): object | undefined {
  return Object.hasOwn(properties, name) ? properties[name] : undefined;
}

const isText = (schema: ObjectSchema, name: string): boolean => {
  const property = propertyOf(schema, name);
  return property !== undefined && 'type' in property && property.type === 'string';
};

function refusalText(schema: ObjectSchema, name: string): string {
  const property = propertyOf(schema, name);
  return property !== undefined && 'refusal' in property && typeof property.refusal === 'string'
    ? property.refusal
    : `value of ${name}: it is not accepted`;
}

/** First name in a list of the parameters of a fault. */
function firstName(params: object, list: string): string {
  const names: unknown = Reflect.get(params, list);
  return Array.isArray(names) ? String(names[0]) : '';
}
