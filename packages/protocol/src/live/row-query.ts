import { Type } from 'typebox';
import type { Data } from '../data.js';

/**
 * Queries for rows of menus. Each part has a default. A message `window` changes the parts that it names; `null` resets
 * sort, filter, find, tree or columns.
 *
 * The `filter` is an object: the name of a column (a property, half of a pair such as `max-limit.upload`, a flag such as
 * `disabled` or `dynamic`, or `.id`) and a condition on its value. All conditions must hold:
 *
 *     {"chain": "forward"}                                                    equal
 *     {"disabled": true}                                                      flags and numbers as they are
 *     {"src-address": {"op": "in", "value": "10.0.0.0/8,192.168.88.1-192.168.88.9"}}
 *     {"rate.upload": [{"op": "more", "value": "1M"}, {"op": "less", "value": "20M"}]}
 *
 * Operators: `is`, `is-not`, `contains`, `contains-not` (text as sent or as shown, in any case), `in`, `in-not` (a
 * comma list: networks, single addresses and ranges for addresses; values and ranges `a-b` for numbers; words for
 * the rest), `less`, `more` (typed). An item without a value meets only the operators with `not`; an absent flag
 * counts as no. A column or value that is not possible is answered with `error`, and the query stays as it was.
 *
 * The `sort` names a column; several with `+` between them are sorted by their sum:
 * `{"by": "rate.upload+rate.download", "desc": true}`.
 *
 * The `tree` shows a menu whose items have parents depth first: `{"folded": false, "except": ["*1"]}` leaves
 * out what is below `*1`, `{"folded": true, "except": ["*1"]}` what is below all others. Rows then have `.above` (ids
 * of the items that they are below, from the root, as a comma list), `.children` and `.open`; sorting is among
 * siblings, and what passes a filter or find is shown with all that it is below, whatever is folded: then there is no
 * `.open`.
 */

/** Operators of filter conditions. */
const OPERATORS = ['is', 'is-not', 'contains', 'contains-not', 'in', 'in-not', 'less', 'more'] as const;
export type Operator = (typeof OPERATORS)[number];

/** Maximum length of the search text, characters. */
export const MAX_FIND = 256;
export const FIND_ACCEPTS = `find must be a text of at most ${MAX_FIND} characters`;

const value = (options = {}) => Type.Union([Type.String(), Type.Number(), Type.Boolean()], options);

/** Condition on a column. */
export const test = Type.Object({
  op: Type.Enum([...OPERATORS], { refusal: `one of ${OPERATORS.join(', ')}` }),
  value: value({ refusal: 'a text, a number, true or false' }),
});

const asked = Type.Union([value(), test]);
export type Asked = Data<typeof asked>;

/** A condition with its column, as in the error about a refused filter. */
export const condition = Type.Object({
  column: Type.String({ description: 'A property, half of a pair (`max-limit.upload`) or `.id`.' }),
  op: Type.Enum([...OPERATORS]),
  value: Type.String(),
});
export type Condition = Data<typeof condition>;

const filter = Type.Record(Type.String(), Type.Union([asked, Type.Array(asked)]));
export type Filter = Data<typeof filter>;

const sort = Type.Object({ by: Type.String(), desc: Type.Optional(Type.Boolean()) });
export type Sort = Data<typeof sort>;

const tree = Type.Object({
  folded: Type.Boolean({ description: 'Items are folded unless named in `except`; or unfolded unless named there.' }),
  except: Type.Optional(Type.Array(Type.String(), { description: '`.id`s.' })),
});
export type Tree = Data<typeof tree>;

const orNone = <S extends Parameters<typeof Type.Union>[0][number]>(schema: S, refusal: string) =>
  Type.Optional(Type.Union([Type.Null(), schema], { refusal }));

/** A non-negative integer. */
export const wholeNumber = (name: string, description: string) =>
  Type.Integer({
    minimum: 0,
    maximum: Number.MAX_SAFE_INTEGER,
    description,
    refusal: `${name} must be a whole number from 0`,
  });

/** Parts of a query for rows. */
export const rowQueryParts = {
  filter: orNone(filter, 'filter must be an object of columns, e.g. {"name":"ether1"}'),
  /** Visible columns: only these are sent, with the flags, the comment and `.about`. */
  columns: orNone(Type.Array(Type.String()), 'columns must be a list of names'),
  find: orNone(Type.String(), FIND_ACCEPTS),
  sort: orNone(sort, 'sort must be {"by":"property","desc":false}'),
  tree: orNone(tree, 'tree must be {"folded":false,"except":["*1"]}'),
  first: Type.Optional(wholeNumber('first', 'Place of the first row among those that pass.')),
  count: Type.Optional(wholeNumber('count', 'How many rows.')),
};

const part = Type.Object(rowQueryParts);
/** The parts of a query that a message contains. */
export type RowQueryPart = Data<typeof part>;
