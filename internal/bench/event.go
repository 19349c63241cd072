package bench

import (
	"time"

	"plimsoll/internal/ceiling"
	"plimsoll/internal/result"
	"plimsoll/internal/stats"
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

// Added is a scenario that follows from what was measured (Plan.Next).
type Added struct {
	Scenario suite.Scenario   `json:"scenario"`
	Ceiling  *ceiling.Ceiling `json:"ceiling,omitempty"`
}

// Laying is the progress of writing a role's file, or the files of its jobs.
type Laying struct {
	Role    topology.Role `json:"role"`
	File    string        `json:"file"`
	Files   int           `json:"files,omitempty"` // File is a directory with so many files, one for each job
	Written units.Bytes   `json:"written"`
	Size    units.Bytes   `json:"size"`
	Done    bool          `json:"done,omitempty"`
}

// Began says that a scenario's fio was started.
type Began struct {
	Scenario suite.Scenario `json:"scenario"`
	Argv     []string       `json:"argv"`
	Expected time.Duration  `json:"expected"` // 0 when its end is not known
	Stall    time.Duration  `json:"-"`        // that fio may stand still
}

// Ticked is one second of a running scenario.
type Ticked struct {
	ID      int                   `json:"id"`
	Elapsed time.Duration         `json:"elapsed"`
	Second  result.Second         `json:"second"`
	Sample  telemetry.Sample      `json:"sample"`
	Use     []telemetry.DeviceUse `json:"use,omitempty"`
	// Transactions is set where a database runs and not fio.
	Transactions *result.PgSecond `json:"transactions,omitempty"`
}

// Ended says that a scenario has its result.
type Ended struct {
	ID     int            `json:"id"`
	Result *result.Result `json:"result"`
}

// RoundBegan opens a round of a run with rounds.
type RoundBegan struct {
	Round int    `json:"round"`
	Of    int    `json:"of"` // the least number of rounds
	Most  int    `json:"most"`
	Seed  uint64 `json:"seed"`
}

// RoundEnded says how well the figures are known after a round.
type RoundEnded struct {
	Round int `json:"round"`
	// Planned is the number of rounds that is likely to be needed in all, of the last round its own
	// number; Rest is the time that the others take.
	Planned int           `json:"planned"`
	Rest    time.Duration `json:"rest"`
	Elapsed time.Duration `json:"elapsed"`
	Goal    float64       `json:"goal,omitempty"` // half width, as a share
	Figures []RoundFigure `json:"figures"`
	// Settled scenarios of a run until steady, and how many times their files were written, the
	// prefill included; 0 for not at all.
	Settled int     `json:"settled,omitempty"`
	Written float64 `json:"written,omitempty"`
	Steady  bool    `json:"steady,omitempty"`
	// Enough: this was the last round. GoalMissed: it was the last, and what --until asks for is
	// not reached; BudgetSpent: because another would not fit the budget.
	Enough      bool `json:"enough,omitempty"`
	GoalMissed  bool `json:"goal_missed,omitempty"`
	BudgetSpent bool `json:"budget_spent,omitempty"`
}

// RoundFigure is a scenario's figure over its rounds so far.
type RoundFigure struct {
	ID        int             `json:"id"`
	Name      string          `json:"name"`
	Figure    string          `json:"figure"` // IOPS, bandwidth
	Precision stats.Precision `json:"-"`      // its Half is infinite at first
	Rounds    int             `json:"rounds"`
}

// Cooling is the pause before the next scenario.
type Cooling struct {
	For time.Duration `json:"for"`
}

// Noted is something that the user should know, such as leftovers of a crash that were removed.
type Noted struct {
	Text string `json:"text"`
}

func (Started) event()    {}
func (Added) event()      {}
func (Laying) event()     {}
func (Began) event()      {}
func (Ticked) event()     {}
func (Ended) event()      {}
func (Cooling) event()    {}
func (RoundBegan) event() {}
func (RoundEnded) event() {}
func (Noted) event()      {}
