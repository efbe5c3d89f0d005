import { canonicalJson, sha256 } from '../../platform/kernel/canonical-json.js';

/** RFC 8785 of `{ tool, params }`: what a permit is bound to. */
export function paramsHashOf(tool: string, params: unknown): string {
  return sha256(canonicalJson({ tool, params }));
}

/** What a person is shown of an action request. Receipts tell all of it, so that the verifier can compute it again. */
export interface ShownAction {
  tool: string;
  /** Of the tool as it is described; null: it is not registered and active. */
  fingerprint: string | null;
  agent: string | null;
  paramsHash: string;
}

/** The hash of the one packet in the approval of an action request. */
export function actionContentHash({ tool, fingerprint, agent, paramsHash }: ShownAction): string {
  return sha256(canonicalJson({ tool, fingerprint, agent, paramsHash }));
}
