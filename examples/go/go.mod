module emulator

go 1.19
