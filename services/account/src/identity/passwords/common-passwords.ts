/** Most common passwords of eight characters and more in published breaches, in lower case. */
export const COMMON_PASSWORDS: ReadonlySet<string> = new Set(
  `00000000 0123456789 0987654321 1029384756 11111111 1111111111 11223344 12121212 123123123 12341234 12344321
  1234554321 12345678 123456789 1234567890 12345678910 1234567891 123456789a 123456abc 1234abcd 1234qwer
  12qwaszx 1q2w3e4r 1q2w3e4r5t 1q2w3e4r5t6y 1qaz2wsx 1qaz2wsx3edc 1qazxsw2 22222222 31415926 55555555 66666666
  77777777 87654321 88888888 987654321 9876543210 99999999 a1234567 a12345678 a123456789 aa123456 aa12345678
  abc12345 abc123456 abcd1234 abcdefgh abcdefghi access14 admin123 admin1234 administrator alexander asdf1234
  asdfasdf asdfghjk asdfghjkl asdfqwer babygirl baseball baseball1 basketball benjamin blink182 butterfly
  chelsea1 changeme changeme123 charlie1 chocolate christian cocacola computer consumer corvette danielle
  dragon123 elizabeth facebook february football football1 freedom1 friendship garfield google123 guest123
  hello123 hellohello hello1234 iloveyou iloveyou1 iloveyou2 internet isabella january1 jennifer jessica1
  jordan23 jonathan letmein1 letmein123 liverpool liverpool1 login123 lovelove ludacris manchester marlboro
  master123 matthew1 maverick mercedes metallica michael1 michelle midnight monkey123 mountain mustang1
  mynoob12 naruto123 nicholas november october1 p@ssw0rd p@ssword pakistan passw0rd passw0rd1 password
  password! password. password0 password1 password1! password11 password12 password123 password1234
  password12345 password2 password3 passwort passwort1 password@123 pokemon1 princess princess1 q1w2e3r4
  q1w2e3r4t5 q1w2e3r4t5y6 qazwsxedc qazwsx123 qwer1234 qwerasdf qwert123 qwerty12 qwerty123 qwerty1234
  qwerty12345 qwertyui qwertyuio qwertyuiop qwertz123 qwertzuiop rockyou1 root1234 samantha samsung1
  secret123 september shadow123 sometext spiderman starwars starwars1 sunshine sunshine1 superman superman1
  superstar temporary test1234 test12345 testtest testtest1 tinkerbell tollgate trustno1 undertaker
  valentina veronica victoria wall.e123 welcome1 welcome12 welcome123 welcome2 whatever william1 xiaoming
  yankees1 zaq12wsx zaq1zaq1 zxcvbnm1 zxcvbnm123 zxcvbnma`.split(/\s+/),
);
