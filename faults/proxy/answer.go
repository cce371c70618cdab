package proxy

import (
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/squall-chaos/squall/checker/history"
)

// apiAnswer is how an API server says what a code means. The status is the one that the reference adapter reads as the code's error;
// see doc.go for those where that is not the one that comes to mind first.
type apiAnswer struct {
	status int
	reason metav1.StatusReason
	retry  time.Duration // Retry-After
}

var apiAnswers = map[history.Code]apiAnswer{
	history.Timeout:     {status: http.StatusGatewayTimeout, reason: metav1.StatusReasonTimeout},
	history.Unavailable: {status: http.StatusUnauthorized, reason: metav1.StatusReasonUnauthorized},
	history.NotFound:    {status: http.StatusNotFound, reason: metav1.StatusReasonNotFound},
	history.Exists:      {status: http.StatusConflict, reason: metav1.StatusReasonAlreadyExists},
	history.Conflict:    {status: http.StatusConflict, reason: metav1.StatusReasonConflict},
	history.Throttled:   {status: http.StatusTooManyRequests, reason: metav1.StatusReasonTooManyRequests, retry: time.Second},
	history.Rejected:    {status: http.StatusUnprocessableEntity, reason: metav1.StatusReasonInvalid},
	history.Expired:     {status: http.StatusGone, reason: metav1.StatusReasonExpired},
	history.Internal:    {status: http.StatusInternalServerError, reason: metav1.StatusReasonInternalError},
}

// reasons are those of a status that a rule asks for instead of its code's.
var reasons = map[int]metav1.StatusReason{
	http.StatusBadRequest: metav1.StatusReasonBadRequest, http.StatusUnauthorized: metav1.StatusReasonUnauthorized,
	http.StatusForbidden: metav1.StatusReasonForbidden, http.StatusNotFound: metav1.StatusReasonNotFound,
	http.StatusConflict: metav1.StatusReasonConflict, http.StatusGone: metav1.StatusReasonExpired,
	http.StatusUnprocessableEntity: metav1.StatusReasonInvalid, http.StatusTooManyRequests: metav1.StatusReasonTooManyRequests,
	http.StatusInternalServerError: metav1.StatusReasonInternalError, http.StatusServiceUnavailable: metav1.StatusReasonServiceUnavailable,
	http.StatusGatewayTimeout: metav1.StatusReasonTimeout,
}

// writeAnswer answers a request as the rule says.
func writeAnswer(w http.ResponseWriter, r *http.Request, c *call, rule Rule) {
	code, _ := history.ParseCode(rule.Code) // checked when it was armed
	a := apiAnswers[code]
	if rule.Status != 0 && rule.Status != a.status {
		a = apiAnswer{status: rule.Status, reason: reasons[rule.Status]}
	}
	if !rule.RetryAfter.IsZero() {
		a.retry = rule.RetryAfter.A
	}
	writeStatus(w, r, c, a, code)
}

// writeStatus answers with a Status object, as the API server does.
func writeStatus(w http.ResponseWriter, r *http.Request, c *call, a apiAnswer, code history.Code) {
	t := targetOf(r.URL.Path)
	name := t.name
	if name == "" && c.task != "" {
		name = taskPrefix + c.task
	}
	s := metav1.Status{
		TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}, Status: metav1.StatusFailure,
		Code: int32(a.status), Reason: a.reason, Message: t.resource + " \"" + name + "\": answered by a fault of Squall",
		Details: &metav1.StatusDetails{Name: name, Kind: t.resource},
	}
	if a.status == http.StatusForbidden && code == history.Throttled {
		// Nothing but the text tells a spent quota (apiserver/pkg/admission/plugin/resourcequota/controller.go, CheckRequest).
		s.Message = t.resource + " \"" + name + "\" is forbidden: exceeded quota: squall"
	}
	if a.retry > 0 {
		seconds := int32(math.Ceil(a.retry.Seconds()))
		s.Details.RetryAfterSeconds = seconds
		w.Header().Set("Retry-After", strconv.Itoa(int(seconds)))
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(a.status)
	_ = json.NewEncoder(w).Encode(s)
}
