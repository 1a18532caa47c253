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

/** How far ahead the clock of another machine may be, in milliseconds. */
export const clockSkew = 120_000;

const digits = (value: number, count = 2): string => String(value).padStart(count, '0');

/** Whether there is such a day: of a year of four digits, a month and a day of two each. */
export const isDay = (year: string, month: string, day: string): boolean => {
  if (month < '01' || month > '12' || day < '01' || day > '31') return false;
  if (day <= '28') return true;
  if (month !== '02') return day !== '31' || !['04', '06', '09', '11'].includes(month);
  const inYear = Number(year);
  return day === '29' && inYear % 4 === 0 && (inYear % 100 !== 0 || inYear % 400 === 0);
};
