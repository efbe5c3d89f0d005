/** What the host of a pooled process asks of it. */
export interface Call<Input> {
  input: Input;
  /** When the process ends the call by itself, because no host did. */
  abandonedAfterMs: number;
}

/** What a pooled process tells its host. */
export type Report<Output> =
  | { type: 'ready' }
  | { type: 'done'; output: Output }
  | { type: 'threw'; error: { name: string; message: string; stack?: string | undefined } };
