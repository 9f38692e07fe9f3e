import { checkOf, type Refusal } from '@tollway/protocol/check';
import type { Data, ObjectSchema, Schema } from '@tollway/protocol/data';
import type { FastifyInstance, FastifySchemaCompiler, FastifyTypeProvider } from 'fastify';
import { type ApiError, errors } from '../errors.js';

/** Fastify type provider: the types of handlers follow from the schemas of their routes. */
export interface ProtocolTypes extends FastifyTypeProvider {
  readonly validator: this['schema'] extends Schema ? Data<this['schema']> : unknown;
  readonly serializer: this['schema'] extends Schema ? Data<this['schema']> : unknown;
}

/** Validates parameters and bodies by the schemas of the protocol. An absent body counts as an empty one. */
export function protocolValidation(app: FastifyInstance): void {
  const compiler: FastifySchemaCompiler<ObjectSchema> = ({ schema }) => {
    const check = checkOf(schema);
    return (data) => {
      const checked = check(data ?? {});
      return checked.ok ? { value: checked.value } : { error: refused(checked.refusal) };
    };
  };
  app.setValidatorCompiler(compiler);
}

function refused({ property, reason, text }: Refusal): ApiError {
  switch (reason) {
    case 'unknown':
      return errors.unknownParameter(property);
    case 'repeated':
      return errors.badProperty(property, `${property} is given more than once`);
    case 'no-object':
      return errors.badRequest('the body must be one JSON object, e.g. {"comment":"text"}');
    default:
      return errors.badProperty(property, text);
  }
}
