module example.org/tour

go 1.19

require example.org/example/service v0.0.0

replace example.org/example/service => ../service
