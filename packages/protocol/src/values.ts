import { Type } from 'typebox';
import type { Data } from './data.js';
import type { Endpoint } from './endpoint.js';

/** Maximum number of values in a response. */
export const MAX_VALUES = 500;

export const values = {
  method: 'GET',
  path: '/api/v1/values',
  summary: 'The distinct values of a property, for choices in fields',
  description: `At most ${MAX_VALUES} are listed.`,
  query: Type.Object(
    {
      menu: Type.String({
        description: 'Path of a menu.',
        refusal: 'menu must be the path of a menu, e.g. /interface',
      }),
      property: Type.Optional(Type.String({ refusal: 'property must be the name of a property' })),
    },
    { additionalProperties: false },
  ),
  answer: Type.Array(Type.String()),
} as const satisfies Endpoint;
export type Values = Data<typeof values.answer>;
