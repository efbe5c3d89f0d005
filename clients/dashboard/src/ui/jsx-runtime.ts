import { Fragment, jsx as element, jsxs as elements } from 'react/jsx-runtime';
import { visible } from './unseen.js';

/**
 * The runtime that JSX is compiled to (`jsxImportSource`): React's, with every text made visible, so that no component can
 * forget it.
 */
export type { JSX } from 'react/jsx-runtime';
export { Fragment };
export const jsx: typeof element = (type, props, key) => element(type, seen(props), key);
export const jsxs: typeof elements = (type, props, key) => elements(type, seen(props), key);
/** That of `npm run dev`. */
export const jsxDEV: typeof element = (type, props, key) => element(type, seen(props), key);

function seen(props: unknown): unknown {
  const { children, 'aria-label': label } = props as { children?: unknown; 'aria-label'?: string };
  const shown = inChildren(children);
  const name = label && visible(label);
  if (shown === children && name === label) return props;
  return { ...(props as object), children: shown, ...(name && { 'aria-label': name }) };
}

function inChildren(children: unknown): unknown {
  if (typeof children === 'string') return visible(children);
  if (!Array.isArray(children)) return children;
  return children.some((child) => inChildren(child) !== child) ? children.map(inChildren) : children;
}
