/** Names and addresses that are not `a.example`, however they are written. */
export const OTHER_HOSTS: readonly string[] = [
  ...[
    'b.example example xa.example a.example.b.example a-example a.examplex b.a.example .a.example',
    'a..example a.example.. a_.example a.example:443.b.example xn--a-example а.example ａ.example.org',
    'a.example%00.b.example a.example%20 a.example%2eb.example a.example;b.example b.example@a.example',
    'a.example@b.example 127.0.0.1 127.1 0 0.0.0.0 0x7f000001 2130706433 017700000001 0x7f.1 127.0.0.1. 127.0.1',
    '0177.0.0.1 10.0.0.1 172.16.0.1 192.168.0.1 169.254.169.254 0xa9fea9fe 2852039166 100.100.100.200',
    '224.0.0.1 [::1] [::] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:0:0:1] [::127.0.0.1] [fe80::1]',
    '[fd00::1] [64:ff9b::7f00:1] [2002:7f00:1::] [fe80::1%25eth0] [::1%lo] [v1.a] [] [a.example]',
    'localhost LOCALHOST localhost. a.localhost ip6-localhost metadata.google.internal metadata',
    'instance-data 8.8.8.8 1.1.1.1 93.184.216.34 [2606:4700:4700::1111] dns.google one.one.one.one *',
    '*.example - % ,',
  ].flatMap((row) => row.split(' ')),
  'a.example\\.b.example',
  '',
  ' ',
  '\u0000',
  'a.example\u0000',
  'a.example\t',
  '\ta.example',
  'a.example\u0000.b.example',
];
