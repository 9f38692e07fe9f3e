import { Type } from 'typebox';
import type { Data } from './data.js';

/** Body of every error response: the format of RouterOS, and the property at fault if there is one. */
export const errorBody = Type.Object({
  error: Type.Integer({ description: 'HTTP status.' }),
  message: Type.String({ description: 'Name of the status.' }),
  detail: Type.Optional(Type.String({ description: 'What is wrong and what is accepted.' })),
  property: Type.Optional(Type.String({ description: 'Property that is wrong.' })),
  setup: Type.Optional(Type.Boolean({ description: 'Only with 401: no password has been set yet.' })),
});
export type ErrorBody = Data<typeof errorBody>;
