/** A call of the tool `shop.refund` by a model, with its id. */
export interface Call {
  id: string;
  params: { order: string; amount: number };
}

/** What the tool does, with the permit where the adapter hands it on. */
export type Refund = (params: Call['params'], permit?: string) => Promise<unknown>;
