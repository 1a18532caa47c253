import type { Json } from './canonical-json.ts';

/** What must be known of the machine that reads, to make moments of times without a zone. */
export interface Clock {
  /** The moment of the reading, in UTC. */
  readonly now: string;
  /** How many minutes its local time is ahead of UTC at a local time `YYYY-MM-DDTHH:MM:SS`; summers and winters differ. */
  readonly offsetAt: (local: string) => number;
}

/** A moment in UTC, with what had to be assumed of it; or what keeps it from being one. Both as phrases. */
export type ReadTime = { readonly at: string; readonly remarks: readonly string[] } | { readonly fault: string };

/**
 * A time of a file that programs and people wrote. One in UTC is kept as it is; an offset is converted; one without a zone
 * is the local time of whoever reads, which is told: the writers worked on the same machine more often than in UTC.
 */
export const readTime = (value: Json, clock: Clock): ReadTime => {
  const read =
    typeof value === 'number'
      ? ofNumber(value)
      : typeof value === 'string' && value.length < 100
        ? ofText(value, clock)
        : noTime;
  if ('fault' in read || Date.parse(read.at) <= Date.parse(clock.now)) return read;
  return { at: read.at, remarks: [...read.remarks, 'lies in the future'] };
};

const noTime: ReadTime = { fault: 'is no time' };

/** Seconds and milliseconds since 1970 are told apart by their size, from 2001 to 5138. */
const ofNumber = (value: number): ReadTime => {
  const milliseconds = value >= 1e9 && value < 1e11 ? value * 1000 : value >= 1e12 && value < 1e14 ? value : undefined;
  if (milliseconds === undefined) return noTime;
  return { at: utcOf(milliseconds), remarks: ['is a number and was taken as time since 1970'] };
};

const ofText = (text: string, clock: Clock): ReadTime => {
  const parts =
    /^\s*(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,12}))?)?\s?(Z|[+-]\d\d(?::?\d\d)?)?)?\s*$/i.exec(
      text,
    );
  if (parts === null) return /^\s*\d{10,13}\s*$/.test(text) ? ofNumber(Number(text)) : noTime;
  const [, day = '', minute, second = '00', fraction = '', zone] = parts;
  const local = `${day}T${minute ?? '00:00'}:${second}`;
  const written = `${local}.${fraction.padEnd(3, '0').slice(0, 3)}Z`;
  const moment = Date.parse(written);
  // A day that the month does not have would silently become one of the next month.
  if (Number.isNaN(moment) || new Date(moment).toISOString() !== written)
    return { fault: 'is no time of the calendar' };
  const offset = zone === undefined ? clock.offsetAt(local) : offsetOf(zone);
  const utc = offset === undefined || !(Math.abs(offset) < 24 * 60) ? '' : utcOf(moment - offset * 60_000);
  if (!/^\d{4}-/.test(utc)) return { fault: 'is no time of the calendar' };
  const remarks = [
    ...(minute === undefined ? ['has no time of day and was taken as midnight'] : []),
    ...(zone === undefined ? ['has no zone and was taken as local time'] : []),
    ...(/[1-9]/.test(fraction.slice(3)) ? ['is finer than a millisecond and was cut'] : []),
  ];
  const isKept = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{3})?Z$/.test(text);
  return { at: isKept ? text : utc, remarks };
};

/** The offset of a zone in minutes; undefined where no clock can show it. */
const offsetOf = (zone: string): number | undefined => {
  const [, sign, hours = '00', minutes = '00'] = /^([+-])(\d\d):?(\d\d)?$/.exec(zone) ?? [];
  if (Number(hours) > 23 || Number(minutes) > 59) return undefined;
  return (sign === '-' ? -1 : 1) * (Number(hours) * 60 + Number(minutes));
};

/** A time without milliseconds where there are none, as other programs write it. */
export const printTime = (at: string): string => at.replace('.000Z', 'Z');

const utcOf = (milliseconds: number): string => printTime(new Date(milliseconds).toISOString());
