(* Busy in middle and leaf. *)
let rec leaf n =
  let x = ref n in
  for i = 1 to 2000 do
    x := ((!x * 31) + (i mod 7)) mod 1000003
  done;
  if n = 0 then !x else !x + leaf (n - 1)

let middle () = leaf 5 + List.length (List.sort compare (List.init 100 (fun i -> i * 7919 mod 101))) + leaf 4
let () = while true do ignore (Sys.opaque_identity (middle ())) done
