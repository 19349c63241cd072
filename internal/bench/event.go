package bench

import (
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/result"
	"plimsoll/internal/suite"
	"plimsoll/internal/telemetry"
	"plimsoll/internal/topology"
	"plimsoll/internal/units"
)

// An Event is something that happened in a run. Views show events; bench never prints.
type Event interface{ event() }

// Started opens a run.
type Started struct {
	Dir       string                  `json:"dir"`
	Suite     string                  `json:"suite"`
	Scenarios []suite.Scenario        `json:"scenarios"`      // in the order they run
	Done      []int                   `json:"done,omitempty"` // IDs that a resumed run has already
	Ceilings  map[int]ceiling.Ceiling `json:"ceilings,omitempty"`
	Expected  time.Duration           `json:"expected"` // measuring and cooldowns, layout not included
}

// Laying is the progress of writing a role's file.
type Laying struct {
	Role    topology.Role `json:"role"`
	File    string        `json:"file"`
	Written units.Bytes   `json:"written"`
	Size    units.Bytes   `json:"size"`
	Done    bool          `json:"done,omitempty"`
}

// Began says that a scenario's fio was started.
type Began struct {
	Scenario suite.Scenario `json:"scenario"`
	Argv     []string       `json:"argv"`
	Expected time.Duration  `json:"expected"` // 0 when its end is not known
}

// Ticked is one second of a running scenario.
type Ticked struct {
	ID      int                   `json:"id"`
	Elapsed time.Duration         `json:"elapsed"`
	Second  result.Second         `json:"second"`
	Sample  telemetry.Sample      `json:"sample"`
	Use     []telemetry.DeviceUse `json:"use,omitempty"`
}

// Ended says that a scenario has its result.
type Ended struct {
	ID     int            `json:"id"`
	Result *result.Result `json:"result"`
}

// Cooling is the pause before the next scenario.
type Cooling struct {
	For time.Duration `json:"for"`
}

// Noted is something that the user should know, such as leftovers of a crash that were removed.
type Noted struct {
	Text string `json:"text"`
}

func (Started) event() {}
func (Laying) event()  {}
func (Began) event()   {}
func (Ticked) event()  {}
func (Ended) event()   {}
func (Cooling) event() {}
func (Noted) event()   {}
