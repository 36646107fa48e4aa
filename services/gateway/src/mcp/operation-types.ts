import { GraphQLError, Kind, OperationTypeNode, parse } from 'graphql';
import { Problem } from '@tollgate/http/problem';
import { assertDocumentLength } from '../operation-reader/operation-reader.ts';

export type DocumentLimits = {
  maxDocumentBytes: number;
  /** 0 for no limit. */
  maxTokens: number;
};

export type OperationTypes = { hasMutation: boolean; hasSubscription: boolean };

/**
 * What a document may do, whichever of its operations runs: the upstream has the last word on that, and a query beside a
 * mutation doesn't make it harmless.
 * @throws {Problem} document_too_large; document_invalid, since what can't be parsed here could be anything there
 */
export function operationTypesIn(
  text: string,
  { maxDocumentBytes, maxTokens }: DocumentLimits,
): OperationTypes {
  assertDocumentLength(text, maxDocumentBytes);
  try {
    const { definitions } = parse(text, {
      noLocation: true,
      ...(maxTokens > 0 && { maxLexicalTokens: maxTokens }),
    });
    const has = (type: OperationTypeNode) =>
      definitions.some((each) => each.kind === Kind.OPERATION_DEFINITION && each.operation === type);
    return {
      hasMutation: has(OperationTypeNode.MUTATION),
      hasSubscription: has(OperationTypeNode.SUBSCRIPTION),
    };
  } catch (error) {
    if (!(error instanceof GraphQLError || error instanceof RangeError)) throw error;
    throw new Problem('document_invalid', { detail: 'The GraphQL document cannot be parsed.' });
  }
}
