/** Domains that give mailboxes to everyone, so that no team can speak for them. Their registrable domains. */
export const MAIL_PROVIDERS: ReadonlySet<string> = new Set(
  `126.com 163.com 139.com aim.com aliyun.com aol.com att.net bellsouth.net bigpond.com bk.ru bluewin.ch btinternet.com
  comcast.net cox.net disroot.org duck.com earthlink.net email.com facebook.com fastmail.com fastmail.fm foxmail.com
  free.fr freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de gmx.net googlemail.com hanmail.net hey.com hotmail.co.uk
  hotmail.com hotmail.de hotmail.es hotmail.fr hotmail.it hushmail.com icloud.com inbox.lv inbox.ru interia.pl
  juno.com laposte.net libero.it list.ru live.ca live.co.uk live.com live.fr live.nl mac.com mail.com mail.de mail.ru
  mailbox.org mailfence.com mailinator.com me.com msn.com naver.com netscape.net o2.pl online.de onet.pl optonline.net
  orange.fr outlook.com outlook.de outlook.fr outlook.jp pm.me posteo.de posteo.net proton.me protonmail.ch
  protonmail.com qq.com rambler.ru rediffmail.com riseup.net rocketmail.com runbox.com sbcglobal.net seznam.cz sfr.fr
  shaw.ca sina.com sky.com sohu.com startmail.com t-online.de telus.net tiscali.it tuta.com tuta.io tutanota.com
  tutanota.de ukr.net uol.com.br verizon.net virgilio.it virginmedia.com wanadoo.fr web.de windowslive.com wp.pl
  ya.ru yahoo.ca yahoo.co.in yahoo.co.jp yahoo.co.uk yahoo.com yahoo.com.br yahoo.de yahoo.es yahoo.fr yahoo.it
  yandex.com yandex.ru yeah.net ymail.com yopmail.com zoho.com zohomail.com`.split(/\s+/),
);
