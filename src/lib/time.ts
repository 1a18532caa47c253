/**
 * A time as `Date.prototype.toISOString` writes it, which reads the tables of time zones before it does so for the first
 * time: that costs a hundredth of a bare Node's start.
 */
export const timeText = (milliseconds: number): string => {
  const date = new Date(milliseconds);
  const year = date.getUTCFullYear();
  // The others are written with more digits and a sign; what is no time at all is refused.
  if (!(year >= 0 && year <= 9999)) return date.toISOString();
  const day = `${digits(year, 4)}-${digits(date.getUTCMonth() + 1)}-${digits(date.getUTCDate())}`;
  const time = `${digits(date.getUTCHours())}:${digits(date.getUTCMinutes())}:${digits(date.getUTCSeconds())}`;
  return `${day}T${time}.${digits(date.getUTCMilliseconds(), 3)}Z`;
};

const digits = (value: number, count = 2): string => String(value).padStart(count, '0');
