import { timingSafeEqual } from 'node:crypto';

/** Whether two texts are the same; how long that takes says nothing but whether they are as long as each other. */
export const isSameText = (one: string, other: string): boolean => {
  const [bytes, others] = [Buffer.from(one), Buffer.from(other)];
  return bytes.length === others.length && timingSafeEqual(bytes, others);
};
