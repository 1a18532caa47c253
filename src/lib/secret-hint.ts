/**
 * Whether a text may hold a secret at all. It says yes too often and never a wrong no (property tests hold it against
 * `redact` and its table of prefixes), so that everyday texts do not load the scanner, which costs a verb a tenth of a bare
 * Node's start.
 */
export const mayHoldSecret = (text: string): boolean =>
  names.test(text) || password.test(text) || (long.test(text) && prefixes.test(text));

/** What is in the name of a secret, and what stands before a password without one. */
const names = /pwd|secret|token|key|auth|cred|cookie|bearer|basic|BEGIN |Private-Lines|@|\s--?[aupw]/i;

/** Tests that passed are no password. */
const password = /[Pp][Aa][Ss][Ss](?!(?:ed|ing)(?![\w-]))/;

/** No token is shorter. */
const long = /[\w+/.~%-]{14}/;

/**
 * What is in the prefix of every token that gives itself away by one, and in few words. Nothing repeats without end, so that
 * the look is linear.
 */
const prefixes =
  /gh[oprsu]_|_pat_|gl[a-z]{2,6}-|A[BKS]IA|ACCA|ABSK|Q~|[Ss]ig|sk-|k_(?:live|test)_|whsec_|xox.|xapp-|xwfp-|hooks|:AA|npm_|pypi-|rubygems_|oy2|AKCp|dckr_|AIza|GOCSPX|ya29|1\/\/0|hf_|SG\.|-us\d|shp.._|SK|sq0|PMAK|pat-|do[opr]_|HRKU|nfp_|fo1_|fm\d|LTAI|dapi|pscale_|sb[ps]_|sb_|hv[brs]\.|atlasv|pul-|dp\.|ATATT|ATCTT|ATBB|lin_|ntn_|figd_|CCIP|gl(?:c|sa)_|sntry|NRAK|dt0|eyJ|gsk_|xai-|pplx-|r8_|nvapi-|LS0t/;
