//! ICMP and fragments: which fragments errors are made about, errors that come in fragments, and echo requests that are
//! longer than the MTU.

use tollway_engine::packet::frame::VnetState;
use tollway_engine::packet::verdict::DropReason;
use tollway_testkit::packet::PacketBuilder;
use tollway_testkit::random::Random;
use tollway_testkit::router::{Output, To, port_mac};
use tollway_testkit::{Counter, Ipv6Builder, Router, RouterConfig, rule, seeds};

const HOST: &str = "192.168.88.10";
const OUTSIDE: &str = "10.2.0.1";
const SERVER: &str = "203.0.113.5";
const HOST6: &str = "2001:db8:1::10";
const OUTSIDE6: &str = "2001:db8:2::1";
const SERVER6: &str = "2001:db8:ff::5";

fn config() -> RouterConfig {
    RouterConfig::new()
        .interface("192.168.88.1/24")
        .interface("10.2.0.1/24")
        .address(1, "2001:db8:1::1/64")
        .address(2, "2001:db8:2::1/64")
        .route("0.0.0.0/0", "10.2.0.254")
        .route("::/0", "2001:db8:2::fe")
        .nat("srcnat", rule().out_interface(2).masquerade())
        .ipv6_nat("srcnat", rule().out_interface(2).masquerade())
        .with(|config| config.settings.icmp_rate_limit_ms = 0)
}

fn router(config: RouterConfig, workers: u32) -> Router {
    let mut router = Router::with_workers(config, workers)
        .hosts(0, &[HOST])
        .hosts(1, &["10.2.0.254"])
        .hosts6(0, &[HOST6])
        .hosts6(1, &["2001:db8:2::fe"]);
    router.advance_ms(1_100);
    router
}

fn inject(router: &mut Router, port: u16, frame: Vec<u8>) -> Vec<Output> {
    let mut out = router.inject(port, frame, VnetState::default());
    out.extend(router.advance_ms(5));
    out
}

fn to(out: &[Output], port: u16) -> Vec<&Output> {
    out.iter().filter(|output| output.to == To::Port(port) && output.arp().is_none()).collect()
}

#[test]
fn errors_are_made_about_first_fragments_alone() {
    for workers in [1, 2] {
        let mut router = router(config(), workers);
        let datagram = PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53).payload_len(900).ident(7).ttl(1);
        let frames = datagram.eth_dst(port_mac(0)).build_fragments(400);
        let told: Vec<Vec<Output>> = frames.into_iter().map(|frame| inject(&mut router, 0, frame)).collect();
        let errors = |at: usize| to(&told[at], 0).len();
        assert_eq!((told.len(), errors(0), errors(1), errors(2)), (3, 1, 0, 0));
        let error = to(&told[0], 0)[0].packet();
        assert_eq!((error.icmp, error.dst.to_string().as_str()), (Some((11, 0)), HOST));
        let datagram = Ipv6Builder::new(HOST6, SERVER6).udp(4000, 53).payload_len(900).hop_limit(1);
        let frames = datagram.eth_dst(port_mac(0)).build_fragments(400, 7);
        let told: Vec<Vec<Output>> = frames.into_iter().map(|frame| inject(&mut router, 0, frame)).collect();
        let errors = |at: usize| to(&told[at], 0).len();
        assert_eq!((told.len(), errors(0), errors(1), errors(2)), (3, 1, 0, 0));
        assert_eq!(to(&told[0], 0)[0].ipv6().icmp, Some((3, 0, 0)));
    }
}

/// What the router sends to the server of a flow of the host, from its IP header on.
fn sent_outside(router: &mut Router) -> [Vec<u8>; 2] {
    let l3 = |out: Vec<Output>| to(&out, 1)[0].bytes[14..].to_vec();
    let udp = PacketBuilder::ipv4(HOST, SERVER).udp(4000, 53).payload_len(700).dont_fragment(false);
    let mut out = router.send(0, &udp);
    out.extend(router.advance_ms(5));
    let mut out6 = router.send6(0, &Ipv6Builder::new(HOST6, SERVER6).udp(4000, 53).payload_len(700));
    out6.extend(router.advance_ms(5));
    [l3(out), l3(out6)]
}

#[test]
fn errors_in_fragments_come_back_whole_in_any_order_at_any_worker() {
    for seed in seeds(20) {
        let random = &mut Random::new(seed);
        let workers = 1 + random.below(3) as u32;
        let mut router = router(config(), workers);
        let [quoted, quoted6] = sent_outside(&mut router);
        let size = 64 + 8 * random.below(60) as usize;
        // A router on the way tells of it.
        let error = PacketBuilder::ipv4("198.51.100.1", OUTSIDE).icmp(11, 0, [0; 4]).payload(&quoted);
        let frames = error.ident(9).eth_dst(port_mac(1)).build_fragments(size);
        let error6 = Ipv6Builder::new("2001:db8:aa::1", OUTSIDE6).icmp(3, 0, [0; 4]).payload(&quoted6);
        let frames6 = error6.eth_dst(port_mac(1)).build_fragments(size, 9);
        for (is_ipv6, mut frames) in [(false, frames), (true, frames6)] {
            let count = frames.len();
            assert!(count >= 2, "seed {seed}");
            for place in (1..count).rev() {
                frames.swap(place, random.below(place as u64 + 1) as usize);
            }
            router.moved();
            let mut out = Vec::new();
            for frame in frames {
                assert_eq!(to(&out, 0).len(), 0, "seed {seed}: before the last one");
                let worker = random.below(workers.into()) as usize;
                out.extend(router.inject_batch(worker, vec![(1, frame, VnetState::default())]));
                out.extend(router.advance_ms(1));
            }
            let [whole] = to(&out, 0)[..] else { panic!("seed {seed}, {workers} workers: {out:?}") };
            let inner = if is_ipv6 {
                let packet = whole.ipv6();
                assert_eq!((packet.icmp, packet.dst.to_string().as_str()), (Some((3, 0, 0)), HOST6));
                assert!(packet.checksum_right, "seed {seed}");
                packet.quoted().expect("a quoted packet").src.to_string()
            } else {
                let packet = whole.packet();
                assert_eq!((packet.icmp, packet.dst.to_string().as_str()), (Some((11, 0)), HOST));
                assert!(packet.checksums_right && packet.fragment == (0, false), "seed {seed}");
                packet.quoted().expect("a quoted packet").src.to_string()
            };
            assert_eq!(inner, if is_ipv6 { HOST6 } else { HOST });
            let ended = router.moved().get(&Counter::Drop(DropReason::FragmentReassembled)).copied();
            assert_eq!(ended, Some(count as i64 - 1), "seed {seed}");
        }
        assert_eq!(router.stats().held, 0);
    }
}

/// The frames of a packet in fragments whose destination options header is in the first of them, behind the fragment
/// header.
fn fragments_with_options(packet: &Ipv6Builder, before: bool, size: usize) -> Vec<Vec<u8>> {
    let whole = packet.build();
    let (link, ip) = whole.split_at(14);
    let (header, transport) = ip.split_at(40);
    let mut options = vec![header[6], 0, 0x1e, 4, 1, 2, 3, 4];
    options.extend_from_slice(transport);
    let count = options.len().div_ceil(size);
    let part = |(at, bytes): (usize, &[u8])| {
        let mut frame = [link, header].concat();
        frame[20] = if before { 0 } else { 44 };
        if before {
            frame.extend([44, 0, 1, 4, 0, 0, 0, 0]);
        }
        let offset = (at * size) as u16 | u16::from(at + 1 < count);
        frame.extend([60, 0, (offset >> 8) as u8, offset as u8, 0, 0, 0, 9]);
        frame.extend_from_slice(bytes);
        let payload = (frame.len() - 54) as u16;
        frame[18..20].copy_from_slice(&payload.to_be_bytes());
        frame
    };
    options.chunks(size).enumerate().map(part).collect()
}

#[test]
fn errors_in_fragments_with_other_extension_headers_come_back_whole() {
    for (workers, before, order) in [(1, false, [0, 1, 2]), (2, true, [2, 1, 0]), (3, true, [1, 0, 2])] {
        let mut router = router(config(), workers);
        let [_, quoted] = sent_outside(&mut router);
        let error = Ipv6Builder::new("2001:db8:aa::1", OUTSIDE6).icmp(3, 0, [0; 4]).payload(&quoted);
        let frames = fragments_with_options(&error.eth_dst(port_mac(1)), before, 320);
        assert_eq!(frames.len(), 3);
        let mut out = Vec::new();
        for at in order {
            assert_eq!(to(&out, 0).len(), 0);
            out.extend(inject(&mut router, 1, frames[at].clone()));
        }
        let [whole] = to(&out, 0)[..] else { panic!("{workers} workers: {out:?} {:?}", router.moved()) };
        let packet = whole.ipv6();
        assert_eq!((packet.icmp, packet.dst.to_string().as_str()), (Some((3, 0, 0)), HOST6));
        assert!(packet.checksum_right && packet.fragment.is_none());
        assert_eq!(packet.quoted().expect("a quoted packet").src.to_string(), HOST6);
        // The headers before the fragment header, and those behind it, are those of the whole.
        let named = if before { vec![20, 54, 62] } else { vec![20, 54] };
        let chain: Vec<u8> = named.into_iter().map(|at| whole.bytes[at]).collect();
        assert_eq!(chain, if before { vec![0, 60, 58] } else { vec![60, 58] });
    }
}

#[test]
fn fragments_with_other_extension_headers_are_translated_and_complete() {
    for order in [[0, 1, 2], [2, 1, 0]] {
        let mut router = router(config(), 2);
        let datagram = Ipv6Builder::new(HOST6, SERVER6).udp(4000, 53).payload_len(700).eth_dst(port_mac(0));
        let frames = fragments_with_options(&datagram, true, 256);
        let mut out = Vec::new();
        for at in order {
            out.extend(inject(&mut router, 0, frames[at].clone()));
        }
        let sent = to(&out, 1);
        assert_eq!(sent.len(), 3, "{:?}", router.moved());
        assert!(sent.iter().all(|output| output.ipv6().src.to_string() == OUTSIDE6));
        // The datagram is complete: another fragment of it is not one of those that have left.
        router.moved();
        inject(&mut router, 0, frames[1].clone());
        assert_eq!(router.stats().held, 1, "it waits for the first one of another datagram");
    }
}

#[test]
fn an_error_of_which_a_fragment_is_missing_times_out() {
    let mut router = router(config(), 1);
    let [quoted, _] = sent_outside(&mut router);
    let error = PacketBuilder::ipv4("198.51.100.1", OUTSIDE).icmp(11, 0, [0; 4]).payload(&quoted);
    let mut frames = error.ident(9).eth_dst(port_mac(1)).build_fragments(200);
    frames.remove(1);
    let waiting = frames.len();
    for frame in frames {
        assert_eq!(to(&inject(&mut router, 1, frame), 0).len(), 0);
    }
    router.moved();
    router.advance_ms(60_000);
    let late = router.moved().get(&Counter::Drop(DropReason::FragmentTimeout)).copied();
    assert_eq!((late, router.stats().held), (Some(waiting as i64), 0));
}

#[test]
fn echo_requests_longer_than_the_mtu_are_answered_in_fragments() {
    let mut router = router(config(), 1);
    let out = router.send(0, &PacketBuilder::ipv4(HOST, "192.168.88.1").echo_request(7, 1).payload_len(1800));
    let parts: Vec<_> = to(&out, 0).iter().map(|output| output.packet()).collect();
    assert_eq!(parts.len(), 2);
    assert_eq!((parts[0].icmp, parts[0].fragment), (Some((0, 0)), (0, true)));
    assert_eq!(parts[1].fragment, (1480, false));
    // Linux makes the fragments of IPv6.
    let request = Ipv6Builder::new(HOST6, "2001:db8:1::1").echo_request(7, 1);
    let long = router.send6(0, &request.clone().payload_len(1800));
    assert_eq!(long.iter().map(|output| output.to).collect::<Vec<_>>(), [To::Local(1)]);
    let short = router.send6(0, &request.payload_len(1400));
    assert_eq!(short.iter().map(|output| output.to).collect::<Vec<_>>(), [To::Port(0)]);
}
