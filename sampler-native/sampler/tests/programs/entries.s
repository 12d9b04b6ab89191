# Runs below five hundred frames, each in another row at the end of one entry of call frame information that is 60 kB long.
	.text
	.type	before, @function
before:
	.cfi_startproc
	.rept	20000
	nop
	.cfi_def_cfa_offset 8
	.endr
	.globl	main
	.type	main, @function
main:
	.rept	500
	call	1f
	.cfi_def_cfa_offset 8
1:
	.endr
	jmp	.
	.cfi_endproc
	.section .note.GNU-stack,"",@progbits
