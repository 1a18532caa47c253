/** The words for how a piece of work stands, in the order in which it goes on. */
export const statuses = ['not-started', 'in-progress', 'blocked', 'ready-for-review', 'done'] as const;
export type Status = (typeof statuses)[number];
