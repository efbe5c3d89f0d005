/** How far a buyer is on the way to a decision. */
export type Stage = 'awareness' | 'interest' | 'evaluation' | 'decision';

/** What a confidence from 0 to 1 stands for: each stage is a quarter. */
export function stageOf(confidence: number): Stage {
  if (confidence < 0.25) return 'awareness';
  if (confidence < 0.5) return 'interest';
  return confidence < 0.75 ? 'evaluation' : 'decision';
}

export type Direction = 'rising' | 'falling' | 'steady';

/** Less than a point in a week is no direction. */
const STEADY = 0.01;

/** Where a confidence goes that has changed by so much in a week. */
export function directionOf(change: number): Direction {
  if (Math.abs(change) < STEADY) return 'steady';
  return change > 0 ? 'rising' : 'falling';
}
