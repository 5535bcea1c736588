module phasm

go 1.24
