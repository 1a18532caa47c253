import { flag, optionalCount, optionalTexts } from '../../kernel/fields.ts';

/** The flags about whose bundles are trusted, and in which state. */
export const trustFlags = () => ({
  allow_inspection_warnings: flag('Accept what is inspected with warnings.'),
  allow_source_not_ready: flag('Accept work that was not ready to be handed over.'),
  allow_active_lease: flag('Accept what somebody still held.'),
  allow_expired_lease: flag('Accept what was held until the lease expired.'),
  max_age_hours: optionalCount('Accept no bundle that is older.', 0),
  allowed_updated_by: optionalTexts('Whose work is accepted. Default: anybody’s.'),
  allowed_next_owner: optionalTexts('For whom it may be meant. Default: anybody.'),
  require_signature: flag('It has to be signed.'),
  allowed_signature_scheme: optionalTexts('A scheme that is accepted: hmac-sha256, sshsig. Default: any.'),
  allowed_signer: optionalTexts('A signer who is accepted. Default: anybody.'),
  allowed_key_id: optionalTexts('The id of a key that is accepted. Default: any.'),
  allowed_public_key_fingerprint: optionalTexts('The fingerprint of an SSH key that is accepted.'),
  revoked_signer: optionalTexts('A signer who is not accepted any more.'),
  revoked_key_id: optionalTexts('The id of a key that is not accepted any more.'),
  revoked_public_key_fingerprint: optionalTexts('The fingerprint of an SSH key that is not accepted any more.'),
});
