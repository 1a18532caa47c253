/** The fields of SSH's binary messages (RFC 4251 section 5): a text or bytes, each behind its length. */

/** A key or a signature is never longer: RSA of 16384 bits takes 2 KiB. */
export const longestMessage = 16_384;

/** The fields of a message that is nothing but fields; undefined where a length does not fit, or bytes are left over. */
export const fieldsOf = (message: Uint8Array): readonly Buffer[] | undefined => {
  const bytes = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  if (bytes.length > longestMessage) return undefined;
  const fields: Buffer[] = [];
  let at = 0;
  while (at < bytes.length) {
    const start = at + 4;
    if (start > bytes.length) return undefined;
    const end = start + bytes.readUInt32BE(at);
    if (end > bytes.length) return undefined;
    fields.push(bytes.subarray(start, end));
    at = end;
  }
  return fields;
};

/** A message of such fields. */
export const messageOf = (...fields: readonly (string | Uint8Array)[]): Buffer =>
  Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field);
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  );

/** The bytes of a text in base64 as it has to be written, padded and with nothing else in it; undefined where it is not. */
export const base64Bytes = (text: string): Buffer | undefined => {
  const bytes = Buffer.from(text, 'base64');
  return text !== '' && bytes.toString('base64') === text ? bytes : undefined;
};
