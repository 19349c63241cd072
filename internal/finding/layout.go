package finding

func layoutRules() []*Rule { return nil }
