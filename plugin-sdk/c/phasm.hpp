// SDK for executors in C++20: inputs are a struct, declared member by member. README.md has an example.
#ifndef PHASM_HPP
#define PHASM_HPP

#include "phasm.h"

#include <cstring>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace phasm {

using Call = phasm_call;
// A JSON value as it is, read by the functions phasm_json_….
using Json = const phasm_json *;

// What a type of C++ is in JSON. Others than these cannot be inputs or outputs.
template <class T> struct Kind;

template <> struct Kind<std::string> {
  static constexpr phasm_type type = PHASM_STRING, items = PHASM_ANY;
  static std::string read(Json value) { return {value->text.data, value->text.size}; }
  static phasm_json *write(const std::string &value) { return phasm_json_of_text({value.data(), value.size()}); }
};

template <> struct Kind<int64_t> {
  static constexpr phasm_type type = PHASM_INTEGER, items = PHASM_ANY;
  static int64_t read(Json value) {
    int64_t integer = 0;
    phasm_json_integer(value, &integer);
    return integer;
  }
  static phasm_json *write(int64_t value) { return phasm_json_of_integer(value); }
};

template <> struct Kind<double> {
  static constexpr phasm_type type = PHASM_NUMBER, items = PHASM_ANY;
  static double read(Json value) {
    double number = 0;
    phasm_json_number(value, &number);
    return number;
  }
  static phasm_json *write(double value) { return phasm_json_of_number(value); }
};

template <> struct Kind<bool> {
  static constexpr phasm_type type = PHASM_BOOLEAN, items = PHASM_ANY;
  static bool read(Json value) { return value->boolean; }
  static phasm_json *write(bool value) { return phasm_json_of_boolean(value); }
};

template <> struct Kind<Json> {
  static constexpr phasm_type type = PHASM_ANY, items = PHASM_ANY;
  static Json read(Json value) { return value; }
  static Json write(Json value) { return value == nullptr ? phasm_json_null() : value; }
};

// May be absent.
template <class T> struct Kind<std::optional<T>> {
  static constexpr phasm_type type = Kind<T>::type, items = Kind<T>::items;
  static std::optional<T> read(Json value) { return Kind<T>::read(value); }
  static Json write(const std::optional<T> &value) { return value ? Kind<T>::write(*value) : phasm_json_null(); }
};

template <class T> struct Kind<std::vector<T>> {
  static constexpr phasm_type type = PHASM_LIST, items = Kind<T>::type;
  static_assert(Kind<T>::items == PHASM_ANY, "lists of lists are Json");
  static std::vector<T> read(Json value) {
    std::vector<T> all;
    for (Json item = value->first; item != nullptr; item = item->next)
      all.push_back(Kind<T>::read(item));
    return all;
  }
  static phasm_json *write(const std::vector<T> &value) {
    phasm_json *all = phasm_json_list();
    for (const T &item : value)
      phasm_json_add(all, Kind<T>::write(item));
    return all;
  }
};

template <class T> struct Kind<std::map<std::string, T>> {
  static constexpr phasm_type type = PHASM_OBJECT, items = Kind<T>::type;
  static_assert(Kind<T>::items == PHASM_ANY, "objects of objects are Json");
  static std::map<std::string, T> read(Json value) {
    std::map<std::string, T> all;
    for (Json item = value->first; item != nullptr; item = item->next)
      all.insert_or_assign(Kind<std::string>::read(phasm_json_of_text(item->name)), Kind<T>::read(item));
    return all;
  }
  static phasm_json *write(const std::map<std::string, T> &value) {
    phasm_json *all = phasm_json_object();
    for (const auto &[name, item] : value)
      phasm_json_set(all, name.c_str(), Kind<T>::write(item));
    return all;
  }
};

// Further rules for an input.
struct Rules {
  // Bounds of a number, as JSON.
  const char *minimum = nullptr, *maximum = nullptr;
  // The strings that are allowed.
  std::vector<const char *> choices = {};
};

// Declaration of the inputs, which are a struct.
template <class T> class Inputs {
public:
  // An input that has to be given.
  template <class M> Inputs &required(const char *name, M T::*member, const char *doc, Rules rules = {}) {
    return add(name, member, doc, std::move(rules), false, "");
  }

  // An input that may be absent; its default is that of the struct.
  template <class M> Inputs &optional(const char *name, M T::*member, const char *doc, Rules rules = {}) {
    phasm_text fallback = phasm_json_write(Kind<M>::write(T{}.*member), nullptr);
    return add(name, member, doc, std::move(rules), true, {fallback.data, fallback.size});
  }

  // Makes the struct of inputs that were checked.
  T read(Json values) const {
    T inputs{};
    for (const auto &[name, reader] : readers)
      if (Json value = phasm_json_member(values, name.c_str()); value != nullptr && value->type != PHASM_NULL)
        reader(inputs, value);
    return inputs;
  }

  // The declaration as C has it.
  std::vector<phasm_field> fields() const {
    std::vector<phasm_field> all;
    for (size_t at = 0; at < declared.size(); at++) {
      phasm_field field = declared[at];
      field.name = readers[at].first.c_str();
      field.choices = choices[at].size() > 1 ? choices[at].data() : nullptr;
      field.fallback = fallbacks[at].empty() || fallbacks[at] == "null" ? nullptr : fallbacks[at].c_str();
      all.push_back(field);
    }
    return all;
  }

private:
  template <class M>
  Inputs &add(const char *name, M T::*member, const char *doc, Rules rules, bool optional, std::string fallback) {
    phasm_field field{};
    field.type = Kind<M>::type;
    field.items = Kind<M>::items;
    field.doc = doc;
    field.minimum = rules.minimum;
    field.maximum = rules.maximum;
    field.optional = optional;
    declared.push_back(field);
    rules.choices.push_back(nullptr);
    choices.push_back(std::move(rules.choices));
    fallbacks.push_back(std::move(fallback));
    readers.emplace_back(name, [member](T &inputs, Json value) { inputs.*member = Kind<M>::read(value); });
    return *this;
  }

  std::vector<phasm_field> declared;
  std::vector<std::vector<const char *>> choices;
  std::vector<std::string> fallbacks;
  std::vector<std::pair<std::string, std::function<void(T &, Json)>>> readers;
};

// Declaration of the outputs.
class Outputs {
public:
  template <class T> Outputs &output(const char *name, const char *doc, bool optional = false) {
    phasm_field field{};
    field.name = name;
    field.type = Kind<T>::type;
    field.items = Kind<T>::items;
    field.doc = doc;
    field.optional = optional;
    declared.push_back(field);
    return *this;
  }

  const std::vector<phasm_field> &fields() const { return declared; }

private:
  std::vector<phasm_field> declared;
};

// Outcome of an execution; at first code 0 without outputs.
class Outcome {
public:
  explicit Outcome(phasm_outcome *outcome) : outcome(outcome) {}

  template <class T> Outcome &output(const char *name, const T &value) {
    phasm_output_json(outcome, name, Kind<T>::write(value));
    return *this;
  }
  Outcome &output(const char *name, const char *value) { return output(name, std::string(value)); }
  Outcome &output(const char *name, int value) { return output(name, int64_t{value}); }

  // Code 1: waits for a resume, saying what for.
  Outcome &suspended(const std::string &waits_for) {
    phasm_suspended(outcome, "%s", waits_for.c_str());
    return *this;
  }
  // Code 1 after a resume: refuses the response and waits for another.
  Outcome &refused(const std::string &why) {
    phasm_refused(outcome, "%s", why.c_str());
    return *this;
  }
  // Code 2: another attempt would fail, too.
  Outcome &failed(const char *kind, const std::string &why) {
    phasm_failed(outcome, kind, "%s", why.c_str());
    return *this;
  }
  // Code 3: misuse or a fault.
  Outcome &error(const char *kind, const std::string &why) {
    phasm_error(outcome, kind, "%s", why.c_str());
    return *this;
  }
  // Code 4: took too long.
  Outcome &timeout(const std::string &why) {
    phasm_timeout(outcome, "%s", why.c_str());
    return *this;
  }
  // Sets `error.code`, such as a status of a service.
  template <class T> Outcome &error_code(const T &code) {
    phasm_error_code(outcome, Kind<T>::write(code));
    return *this;
  }
  // Sets `error.retryable`.
  Outcome &retryable(bool retryable) {
    phasm_retryable(outcome, retryable);
    return *this;
  }
  // Adds to the detail that policy rules read as `outcome.NAME`.
  template <class T> Outcome &detail(const char *name, const T &value) {
    phasm_detail(outcome, name, Kind<T>::write(value));
    return *this;
  }

private:
  phasm_outcome *outcome;
};

inline void debug(const std::string &text) { phasm_debug("%s", text.c_str()); }
inline void info(const std::string &text) { phasm_info("%s", text.c_str()); }
inline void warn(const std::string &text) { phasm_warn("%s", text.c_str()); }
inline void progress(double fraction, const std::string &text) { phasm_progress(fraction, "%s", text.c_str()); }
inline void heartbeat() { phasm_heartbeat(); }

// A description, and further members of the manifest as a JSON object.
struct About {
  const char *description = nullptr;
  const char *manifest = nullptr;
};

// The executor as C has it; it refers to `inputs` and `outputs`, which live as long as the program.
template <class T>
const phasm_executor *made(const Inputs<T> &inputs, const Outputs &outputs, About about,
                           void (*run)(const phasm_call *, const void *, phasm_outcome *)) {
  static std::vector<phasm_field> fields;
  static phasm_executor executor;
  fields = inputs.fields();
  executor.description = about.description;
  executor.inputs = fields.data();
  executor.inputs_size = fields.size();
  executor.outputs = outputs.fields().data();
  executor.outputs_size = outputs.fields().size();
  executor.manifest = about.manifest;
  executor.run = run;
  return &executor;
}

template <class T>
void call(void (*function)(const Call &, const T &, Outcome &), const Inputs<T> &inputs, const phasm_call *call,
          phasm_outcome *outcome) {
  Outcome out(outcome);
  function(*call, inputs.read(call->inputs), out);
}

} // namespace phasm

// Makes a function the executor of this program: its name, the declarations, and members of phasm::About.
#define PHASM_EXECUTOR(FUNCTION, INPUTS, OUTPUTS, ...) \
  extern "C" const phasm_executor *phasm_this(void) { \
    return phasm::made(INPUTS, OUTPUTS, {__VA_ARGS__}, [](const phasm_call *call, const void *, phasm_outcome *out) { \
      phasm::call(FUNCTION, INPUTS, call, out); \
    }); \
  }

#endif
