/**
 * What a team's identity provider has answered, by the address that it has led to. Read before the router, which writes
 * addresses anew, and taken out of the address at once, as a reload would send it again.
 */
export const arrivedAnswer = location.pathname.startsWith('/user/sso/') ? location.search.slice(1) : '';

if (arrivedAnswer !== '') history.replaceState(null, '', location.pathname);
