/** Whether a route with this path belongs to the admin area, which is entered by a session and not by an operator token. */
export const isAdminPath = (path: string): boolean => /^\/?api\/admin(\/|$)/.test(path);
