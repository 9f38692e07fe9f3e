import type { Static, TObject, TSchema } from 'typebox';

export type Schema = TSchema;
export type ObjectSchema = TObject;

/** A value that a schema describes. It is read-only, as neither side modifies received data. */
export type Data<S extends TSchema> = Frozen<Static<S>>;

type Frozen<T> = T extends readonly (infer E)[]
  ? readonly Frozen<E>[]
  : T extends object
    ? { readonly [K in keyof T]: Frozen<T[K]> }
    : T;
